import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { batchLikeness, hasLikeness, likenessOf, type NearTo } from '../../src/intake/likeness.sql.ts';
import { addBatch, at } from '../support/ledger.ts';
import { csv, row, type Setting, setting } from './setting.ts';

it('holds a file of thousands of equal payments without weighing each against each', async () => {
  const s = await setting();
  const rows = Array.from({ length: 6000 }, (_, i) => row(`R-${i}`));
  const taken = await s.intake.takeIn(s.drop('pay.csv', csv(...rows)), { origin: 'inbox' });
  expect(taken).toMatchObject({
    kind: 'taken',
    rows: 6000,
    holdReasons: [{ kind: 'repeated_row', row: 3, earlier: 2, others: 5998 }],
  });
});

const many = 20_000;
const like = { account_number: '0123456785', currency: 'NGN', amount: 10_000n };

/** A batch of the same payment many times over. */
async function repeated(s: Setting, id: string): Promise<void> {
  const [payout = 0n] = await addBatch(s.ledger, [`${id}-0`], { id, ...like });
  await s.ledger.write((trx) =>
    sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(many - 1)})
      insert into payouts (batch_id, row_number, reference, reference_key, account_number, account_name, bank_code,
        amount, currency, narration, sender_name, body, cells, state, updated_at)
      select p.batch_id, p.row_number + n.i, ${`${id}-`} || n.i, ${id.toLowerCase()} || n.i, p.account_number,
        p.account_name, p.bank_code, p.amount, p.currency, p.narration, p.sender_name, p.body, p.cells, p.state, p.updated_at
      from payouts p cross join n where p.id = ${payout}`.execute(trx),
  );
}

/** Near to all that went since. */
const ever =
  (since = '') =>
  (): ReturnType<NearTo> => ({ since, until: '9999', now: at(1) });

it('tells how often a batch repeats another that repeats itself, without holding each against each', async () => {
  const s = await setting();
  await repeated(s, 'b-1');
  await repeated(s, 'b-2');
  const batch = { id: 'b-2', mode: 'test' as const };
  expect(await hasLikeness(s.ledger.db, batch)).toBe(true);
  const { count, first } = await batchLikeness(s.ledger.db, batch, ever(), 2);
  expect(count).toBe(many);
  expect(first.map((one) => [one.reference, one.earlierReference])).toEqual([
    ['b-2-0', 'b-1-0'],
    ['b-2-1', 'b-1-0'],
  ]);
  const parsed = {
    accountNumber: like.account_number,
    currency: like.currency,
    amount: like.amount,
    payOn: '',
  };
  const rows = Array.from({ length: 2000 }, (_, i) => ({ row: i + 2, reference: `R-${i}`, ...parsed }));
  expect((await likenessOf(s.ledger.db, rows, ever())).length).toBe(2000);
});

it('P20: of equal payouts only those that pay nothing but the others again resemble none', async () => {
  const s = await setting();
  const [first = 0n] = await addBatch(s.ledger, ['A-1'], { id: 'b-1', ...like, state: 'failed' });
  await addBatch(s.ledger, ['B-1'], { id: 'b-2', ...like, successor_of: first });
  await addBatch(s.ledger, ['C-1'], { id: 'b-3', ...like, state: 'refused' });
  const ask = (id: string, since = at(0)) => batchLikeness(s.ledger.db, { id }, ever(since), 5);
  expect(await ask('b-2')).toEqual({ count: 0, first: [] });
  expect(await ask('b-3')).toMatchObject({ count: 1, first: [{ row: 2, earlierReference: 'A-1' }] });
  await addBatch(s.ledger, ['D-1'], { id: 'b-4', ...like });
  expect(await ask('b-2')).toMatchObject({
    count: 1,
    first: [{ reference: 'B-1', earlierReference: 'D-1' }],
  });
  expect(await ask('b-2', '9999'), 'an older one is no duplicate').toEqual({ count: 0, first: [] });
});
