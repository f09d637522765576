import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import readSheets from 'read-excel-file/node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findBatch } from '../../src/books/batch-results.sql.ts';
import { batchSums } from '../../src/books/batch-sums.sql.ts';
import { columnTotals } from '../../src/books/column-totals.sql.ts';
import { createColumnTally } from '../../src/books/column-totals.ts';
import type { PayoutState } from '../../src/core/domain/payout.ts';
import type { NewPayout } from '../../src/core/storage/tables/tables.ts';
import { addBatch, addPayout, makeWorld, type World } from './support.ts';

const batch = 'b-20261121-000001';
let world: World;
beforeEach(async () => {
  world = await makeWorld('2026-09-01T00:00:00.000Z');
});
afterEach(() => world.close());

const header = ['reference', 'amount', 'Department'];
const setHeader = (id: string, columns: readonly string[]) =>
  world.ledger.db
    .updateTable('batches')
    .set({ columns: JSON.stringify(columns) })
    .where('id', '=', id)
    .execute();

const paths: Record<string, [PayoutState, ...PayoutState[]]> = {
  success: ['ready', 'sending', 'pending', 'success'],
  failed: ['ready', 'sending', 'pending', 'failed'],
  pending: ['ready', 'sending', 'pending'],
};
const october = ['2026-10-01', '2026-10-02', '2026-10-03', '2026-10-04'].map((day) => `${day}T12:00:00.000Z`);

/** A payout of 100.00 NGN in a department. */
const add = (
  reference: string,
  department: string,
  state: 'success' | 'failed' | 'pending',
  more: Partial<NewPayout> = {},
) =>
  addPayout(world.ledger, reference, paths[state] ?? ['ready'], {
    times: october,
    cells: JSON.stringify([reference, '100.00', department]),
    ...more,
  });

/** Five rows of three departments, one of them in ZAR and one paid again in the same batch. */
async function fiveRows(): Promise<void> {
  await setHeader(batch, header);
  await add('a', 'Sales', 'success', { fee: '25.125' });
  await add('b', 'Sales ', 'success', { amount: 2_550n });
  await add('c', 'Ops', 'pending');
  await add('d', '', 'success', { currency: 'ZAR' });
  const failed = await add('e', 'Ops', 'failed');
  await add('e-R', 'Ops', 'success', { successor_of: failed });
}

it('adds up a batch by its department: rows of the file once, and what is paid of them', async () => {
  await fiveRows();
  await world.reporting.writeBatchResults(batch);
  const sheets = await readSheets(join(world.reports, batch, 'results.xlsx'));
  const totals = sheets.find(({ sheet }) => sheet === 'Totals by column')?.data ?? [];
  expect(totals).toEqual([
    ['batch', 'column', 'value', 'currency', 'count', 'amount', 'paid_count', 'paid'],
    [batch, 'Department', '(empty)', 'ZAR', 1, 100, 1, 100],
    [batch, 'Department', 'Ops', 'NGN', 2, 200, 1, 100],
    [batch, 'Department', 'Sales', 'NGN', 2, 125.5, 2, 125.5],
  ]);
});

it('comes to the sums of the batch, currency by currency', async () => {
  await fiveRows();
  const found = await findBatch(world.ledger.db, batch);
  const [{ values } = { values: [] }] = found ? await columnTotals(world.ledger.db, found, []) : [];
  const sums = (await batchSums(world.ledger.db, [batch])).get(batch);
  const sumOf = (part: 'amount' | 'paid'): Map<string, bigint> =>
    new Map(
      ['NGN', 'ZAR'].map((currency) => [
        currency,
        values.reduce((all, one) => (one.currency === currency ? all + one.sum[part] : all), 0n),
      ]),
    );
  expect(sumOf('amount')).toEqual(sums?.ordered);
  expect(sumOf('paid')).toEqual(sums?.paid);
});

it('says why a workbook has no totals, and has no such sheet where the file has our columns alone', async () => {
  await setHeader(batch, ['reference', 'amount', 'staff_no']);
  for (let n = 0; n < 51; n++) await add(`r${n}`, `S${n}`, 'pending');
  await addBatch(world.ledger, 'plain');
  await setHeader('plain', ['reference', 'amount']);
  await add('p', '', 'pending', { batch_id: 'plain' });
  await world.reporting.writeBatchResults(batch);
  await world.reporting.writeBatchResults('plain');
  const [many, plain] = await Promise.all(
    [batch, 'plain'].map((id) => readSheets(join(world.reports, id, 'results.xlsx'))),
  );
  expect(many?.find(({ sheet }) => sheet === 'Totals by column')?.data[1]?.[0]).toContain('so few values');
  expect(plain?.map(({ sheet }) => sheet)).toEqual(['Summary', 'results']);
});

it('P30: a closed month keeps what was paid by department, also where one file has no departments', async () => {
  await fiveRows();
  await addBatch(world.ledger, 'plain');
  await setHeader('plain', ['reference', 'amount']);
  await add('p', '', 'success', { batch_id: 'plain', cells: '["p","100.00"]' });
  await world.reporting.closePeriod('2026-10', '2026-11-02T12:00:00.000Z', 'ada');
  await world.ledger.db.updateTable('payouts').set({ fee: '99.00' }).execute();
  const read = async (): Promise<string[][]> => {
    await world.reporting.writePeriod('2026-10');
    return parse(readFileSync(join(world.reports, 'period-2026-10/totals-by-column.csv')), { bom: true });
  };
  const before = await read();
  expect(before).toEqual([
    ['column', 'value', 'currency', 'count', 'amount', 'fees', 'payees'],
    ['', 'all payouts', 'NGN', '4', '325.50', '25.13', '1'],
    ['', 'all payouts', 'ZAR', '1', '100.00', '0.00', '1'],
    ['Department', '(empty)', 'ZAR', '1', '100.00', '0.00', ''],
    ['Department', 'Ops', 'NGN', '1', '100.00', '0.00', ''],
    ['Department', 'Sales', 'NGN', '2', '125.50', '25.13', ''],
    ['Department', '(not in the file)', 'NGN', '1', '100.00', '0.00', ''],
  ]);
  await add('late', 'Sales', 'success', { cells: '["late","100.00","Sales"]' });
  expect(await read()).toEqual(before);
});

it('takes the same column of two files as one, however it is written', () => {
  const tally = createColumnTally([]);
  const paid = { currency: 'NGN', amount: 100n, isRow: true, isPaid: true };
  tally.of(['reference', 'Cost Centre'])(['a', 'X'], paid);
  tally.of(['cost_centre', 'amount'])(['X', '1'], paid);
  expect(tally.columns()).toEqual([
    {
      column: 'Cost Centre',
      values: [
        {
          value: 'X',
          currency: 'NGN',
          sum: { count: 2n, amount: 200n, paidCount: 2n, paid: 200n, fees: 0n },
        },
      ],
    },
  ]);
});

it('leaves out a column whose values are each paid once, such as an invoice number', () => {
  const tally = createColumnTally(['Invoice_Number']);
  const paid = { currency: 'NGN', amount: 100n, isRow: true, isPaid: true };
  tally.of(['reference', 'invoice number', 'department'])(['a', '204/4172', 'Ops'], paid);
  expect(tally.columns().map(({ column }) => column)).toEqual(['department']);
});
