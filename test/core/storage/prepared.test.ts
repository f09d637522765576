import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prepared } from '../../../src/core/storage/prepared.ts';
import { addBatch, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const byReference = prepared<{ id: bigint; reference: string }>((db, slot) =>
  db
    .selectFrom('payouts')
    .select(['id', 'reference'])
    .where('reference', 'in', [slot<string>(0), slot<string>(1)])
    .orderBy('id'),
);

it('puts each value in its place, anew with every call', async () => {
  const [first = 0n, second = 0n, third = 0n] = await addBatch(ledger, ['A-1', 'A-2', 'A-3']);
  const found = async (...values: string[]) => (await byReference(ledger.db, values)).map(({ id }) => id);
  expect(await found('A-1', 'A-3')).toEqual([first, third]);
  expect(await found('A-2', 'none')).toEqual([second]);
});

it('serves several ledgers and their transactions without mixing them up', async () => {
  const other = await makeLedger();
  try {
    await addBatch(ledger, ['A-1']);
    await addBatch(other, ['B-0', 'A-1'], { id: 'b-2' });
    const here = await ledger.write((trx) => byReference(trx, ['A-1', 'B-0']));
    const there = await other.write((trx) => byReference(trx, ['A-1', 'B-0']));
    expect(here.map(({ reference }) => reference)).toEqual(['A-1']);
    expect(there.map(({ reference }) => reference)).toEqual(['B-0', 'A-1']);
  } finally {
    await other.remove();
  }
});

it('gives the same value to every place that names it, and writes nothing outside its transaction', async () => {
  const [id = 0n] = await addBatch(ledger, ['A-1']);
  const rename = prepared<never>(
    (_, slot) =>
      sql`update payouts set narration = ${slot(0)}, sender_name = ${slot(0)} where id = ${slot(1)}`,
  );
  const undone = ledger.write(async (trx) => {
    await rename(trx, ['gone', id]);
    throw new Error('rolled back');
  });
  await expect(undone).rejects.toThrow('rolled back');
  await ledger.write((trx) => rename(trx, ['kept', id]));
  const row = await ledger.db
    .selectFrom('payouts')
    .select(['narration', 'sender_name'])
    .executeTakeFirstOrThrow();
  expect(row).toEqual({ narration: 'kept', sender_name: 'kept' });
});
