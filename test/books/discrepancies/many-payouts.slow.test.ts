import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { watchedAfter } from '../../../src/books/discrepancies/watched.sql.ts';
import type { PayoutState } from '../../../src/core/domain/payout.ts';
import { headsOf } from '../../../src/sending/lanes.sql.ts';
import { nothingStands } from '../../../src/sending/quiet.sql.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

/** Many more payouts like the one of this id. */
async function addMany(like: bigint, count: number): Promise<void> {
  const row = await ledger.db
    .selectFrom('payouts')
    .selectAll()
    .where('id', '=', like)
    .executeTakeFirstOrThrow();
  const { id: _id, reference: _reference, reference_key: _key, ...rest } = row;
  const columns = sql.join(Object.keys(rest).map((column) => sql.ref(column)));
  await sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)})
    insert into payouts (reference, reference_key, ${columns})
    select 'MANY-' || n.i, 'many-' || n.i, ${columns} from payouts cross join n where payouts.id = ${like}`.execute(
    ledger.db,
  );
}

/** The shortest of some tries: whatever else the machine does only makes it longer. */
async function shortest(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 7; i++) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  return Math.min(...times);
}

const many = 60_000;

/** How much longer the work takes when there are many more payouts of the state in another batch. */
async function growth(state: PayoutState, work: () => Promise<unknown>): Promise<number> {
  const [like = 0n] = await addBatch(ledger, ['LIKE'], { id: 'b-0', state });
  const before = await shortest(work);
  await addMany(like, many);
  return (await shortest(work)) / before;
}

it('what is ready of each batch is found without reading all that is ready', async () => {
  await addBatch(ledger, ['R-1'], { id: 'b-1' });
  const work = () => headsOf(ledger.db, { at: at(0) });
  expect(await growth('ready', work)).toBeLessThan(8);
  expect((await work()).map(({ batch }) => batch).toSorted()).toEqual(['b-0', 'b-1']);
});

it('P38: a turn of the sender does not read all that waits for a day', async () => {
  const [like = 0n] = await addBatch(ledger, ['LIKE'], { id: 'b-0', pay_on: '2999-01-01' });
  const work = () => ledger.write((trx) => nothingStands(trx, 'w-1'));
  const before = await shortest(work);
  await addMany(like, many);
  expect((await shortest(work)) / before).toBeLessThan(8);
  expect(await work()).toBe(false);
});

it('what was paid again is found without reading every payout that succeeded', async () => {
  const [first = 0n, again = 0n] = await addBatch(ledger, ['R-1', 'R-2'], { id: 'b-1', state: 'success' });
  await ledger.db.updateTable('payouts').set({ successor_of: first }).where('id', '=', again).execute();
  const work = () =>
    watchedAfter(ledger.db, { kind: 'paid_again', run: 'none' }, { after: 0n, upTo: again }, 500);
  expect(await growth('success', work)).toBeLessThan(8);
  expect((await work()).map(({ id }) => id)).toEqual([first]);
});
