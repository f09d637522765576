import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { payeeKeysOf } from '../../../src/core/domain/payee-name.ts';
import { insertBatch, insertPayouts } from '../../../src/core/ledger/batches.ts';
import { dropSome } from '../../../src/intake/drop-batch.sql.ts';
import { beginRun } from '../../../src/watching/listing/listings.sql.ts';
import { pairListed } from '../../../src/watching/listing/pairing.sql.ts';
import { shownUnder } from '../../../src/watching/listing/shown-under.sql.ts';
import { stage } from '../../../src/watching/listing/staging.sql.ts';
import { listedTransfer } from '../../books/discrepancies/setting.ts';
import { addBatch, at, claimAt, makeLedger, states, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

async function list(...rows: ReturnType<typeof listedTransfer>[]): Promise<string> {
  const run = await ledger.write((trx) => beginRun(trx, at(9)));
  await ledger.write((trx) => stage(trx, run, 1, rows));
  return run;
}

/** The transfers that the runs show under the payout's reference. */
async function shown(id: bigint | undefined, reference: string, ...runs: string[]): Promise<string[]> {
  const payout = { id: id ?? 0n, reference_key: reference.toLowerCase() };
  const rows = await shownUnder(ledger.db, sql.join(runs), [payout]);
  return rows.map(({ run_id, transfer_id }) => `${runs.indexOf(run_id)}:${transfer_id}`);
}

it('a listed row is found under its reference whether it was paired by it, paired later, or never', async () => {
  const [one] = await addBatch(ledger, ['R-1']);
  const first = await list(listedTransfer('r-1', { id: '1' }), listedTransfer('R-2', { id: '2' }));
  const [two] = await addBatch(ledger, ['R-2'], { id: 'b-2' });
  expect(await shown(two, 'R-2', first)).toEqual(['0:2']);
  expect(await pairListed(ledger, first)).toBe(2);
  const second = await list(listedTransfer('R-1', { id: '3' }), listedTransfer('R-2', { id: '2' }));
  expect(await shown(one, 'R-1', first, second)).toEqual(['0:1', '1:3']);
  expect(await shown(two, 'R-2', first, second)).toEqual(['0:2', '1:2']);
  expect(await shown(two, 'R-2', second)).toEqual(['0:2']);
  expect(await shown(99n, 'R-3', first, second)).toEqual([]);
});

it('P15: a payout whose reference the list shows is held, although that transfer was taken for another payout’s', async () => {
  const [other] = await addBatch(ledger, ['R-1'], { state: 'success', transfer_id: '77' });
  const run = await list(listedTransfer('R-2', { id: '77' }));
  const row = ledger.db.selectFrom('listed').select('payout_id').where('run_id', '=', run);
  expect((await row.executeTakeFirstOrThrow()).payout_id).toBe(other);
  await addBatch(ledger, ['R-2'], { id: 'b-2' });
  expect(await claimAt(ledger, at(10), 5)).toEqual([]);
  expect(await states(ledger)).toEqual({ 'R-1': 'success', 'R-2': 'held' });
});

it('P15, P23: what the list shows of a payout that is thrown away still holds who takes its reference next', async () => {
  const half = await halfBatch('R-1');
  const run = await list(listedTransfer('R-1', { id: '5' }));
  expect(await shown(half, 'R-1', run)).toEqual(['0:5']);
  expect(await throwAway('b-1')).toBe(true);
  expect(await pairListed(ledger, run)).toBe(0);
  await addBatch(ledger, ['R-1'], { id: 'b-2' });
  expect(await claimAt(ledger, at(10), 5)).toEqual([]);
  expect(await states(ledger)).toEqual({ 'R-1': 'held' });
});

/** A batch whose intake was killed before it was decided; returns its payout. */
async function halfBatch(reference: string): Promise<bigint> {
  const batch = { id: 'b-1' };
  const about = { name: 'b-1', file_name: 'b-1.csv', columns: '[]', delimiter: ',', row_count: 1n };
  const order = { account_number: '0123456789', account_name: 'A', bank_code: '058', currency: 'NGN' };
  const rest = {
    narration: 'n',
    sender_name: 's',
    type: null,
    body: '{}',
    cells: '[]',
    pay_on: '',
    payee_id: '',
    ...payeeKeysOf({ account_name: order.account_name, payee_id: '' }),
  };
  const own = { row_number: 2n, reference, reference_key: reference.toLowerCase(), amount: 100n };
  await ledger.write(async (trx) => {
    await insertBatch(trx, {
      ...batch,
      ...about,
      content_hash: 'half',
      created_at: at(0),
      dropped_by: 'ada',
    });
    await insertPayouts(trx, batch.id, at(0), [{ ...order, ...rest, ...own }]);
  });
  const { id } = await ledger.db.selectFrom('payouts').select('id').executeTakeFirstOrThrow();
  return id;
}

async function throwAway(batch: string): Promise<boolean> {
  return (await ledger.write((trx) => dropSome(trx, batch, 10))).done;
}
