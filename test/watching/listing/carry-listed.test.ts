import { afterEach, beforeEach, expect, it } from 'vitest';
import type { StagedTransfer } from '../../../src/core/domain/listed-transfer.ts';
import { runsToCarryFrom } from '../../../src/watching/listing/carry-listed.sql.ts';
import { beginRun } from '../../../src/watching/listing/listings.sql.ts';
import { unpair } from '../../../src/watching/listing/pairing.sql.ts';
import { stage } from '../../../src/watching/listing/staging.sql.ts';
import { listedTransfer } from '../../books/discrepancies/setting.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
let now = 0;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

async function begin(): Promise<string> {
  now += 60_000;
  return ledger.write((trx) => beginRun(trx, at(now)));
}

/** A run of one pass, which copies what it can as a listing does. */
async function stageRun(rows: StagedTransfer[]): Promise<string> {
  const run = await begin();
  const from = await runsToCarryFrom(ledger.db, run);
  await ledger.write((trx) => stage(trx, run, 1, rows, from));
  return run;
}

function rowsOf(run: string) {
  const rows = ledger.db.selectFrom('listed').selectAll().where('run_id', '=', run);
  return rows.orderBy('transfer_id').execute();
}

const printed = (reference: string, print: number, other: Partial<StagedTransfer> = {}): StagedTransfer =>
  listedTransfer(reference, { print, ...other });

it('a transfer that the run before showed just so is copied, whatever else there is to write', async () => {
  await addBatch(ledger, ['R-1', 'R-2']);
  const rows = [printed('R-1', 1), printed('R-2', 2), printed('S-3', 3)];
  const first = await stageRun(rows);
  // What only a copy would keep.
  await ledger.db
    .updateTable('listed')
    .set({ account_name: 'AS KEPT' })
    .where('run_id', '=', first)
    .execute();
  const second = await stageRun([...rows, printed('S-4', 4)]);
  expect((await rowsOf(second)).map(({ reference, account_name }) => [reference, account_name])).toEqual([
    ['R-1', 'AS KEPT'],
    ['R-2', 'AS KEPT'],
    // Nobody's: somebody's order may go by its reference now.
    ['S-3', 'ADA OBI'],
    ['S-4', 'ADA OBI'],
  ]);
});

it('a copied row is in all the row that it was, but for the run that shows it', async () => {
  await addBatch(ledger, ['R-1']);
  const rows = [printed('R-1', 2 ** 53 - 1, { trx: 'T', fee: '1.50', domain: null, updated_at: at(5) })];
  const before = await rowsOf(await stageRun(rows));
  const run = await stageRun(rows);
  expect(await rowsOf(run)).toEqual(before.map((row) => ({ ...row, run_id: run })));
});

it('a transfer that shows anything else is written anew, and one without a print always', async () => {
  await addBatch(ledger, ['R-1', 'R-2']);
  const first = await stageRun([printed('R-1', 1, { status: 'pending' }), listedTransfer('R-2')]);
  expect((await rowsOf(first)).map(({ print }) => print)).toEqual([1n, null]);
  const second = await stageRun([printed('R-1', 7), listedTransfer('R-2', { status: 'failed' })]);
  expect((await rowsOf(second)).map(({ status, print }) => [status, print])).toEqual([
    ['success', 7n],
    ['failed', null],
  ]);
});

it('a transfer that was paired by less than its reference is paired anew: a better payout may be there now', async () => {
  const [other = 0n] = await addBatch(ledger, ['R-1']);
  await ledger.db.updateTable('payouts').set({ trx: 'T-9' }).where('id', '=', other).execute();
  const rows = [printed('S-9', 1, { trx: 'T-9' })];
  expect((await rowsOf(await stageRun(rows))).map(({ payout_id }) => payout_id)).toEqual([other]);
  const [own] = await addBatch(ledger, ['S-9'], { id: 'b-2' });
  expect((await rowsOf(await stageRun(rows))).map(({ payout_id }) => payout_id)).toEqual([own]);
});

it('P23: a transfer whose payout was thrown away is copied as nobody’s by no run', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  const rows = [printed('R-1', 1)];
  await stageRun(rows);
  await ledger.write((trx) => unpair(trx, [id]));
  const [anew] = await rowsOf(await stageRun(rows));
  expect(anew).toMatchObject({ payout_id: id, stray_key: null });
});

it('P28: what an earlier run showed never takes the place of a newer word that this run has', async () => {
  await addBatch(ledger, ['R-1']);
  const old = printed('R-1', 1, { status: 'pending', updated_at: at(1) });
  await stageRun([old]);
  const run = await stageRun([printed('R-1', 2, { updated_at: at(9) })]);
  const from = await runsToCarryFrom(ledger.db, run);
  // A later pass, or a page that was served before the transfer changed, shows the old word again.
  await ledger.write((trx) => stage(trx, run, 2, [old], from));
  expect((await rowsOf(run)).map(({ status }) => status)).toEqual(['success']);
});

it('many transfers, some as before and some not, are all there, each once', async () => {
  const names = Array.from({ length: 1_300 }, (_, n) => `R-${n}`);
  await addBatch(ledger, names);
  const first = names.map((name, n) => printed(name, n));
  await stageRun(first);
  const second = await stageRun(
    first.map((row, n) => (n % 7 === 0 && n < 900 ? { ...row, print: n + 5_000, status: 'failed' } : row)),
  );
  const rows = await rowsOf(second);
  const failed = rows.flatMap(({ status, reference }) => (status === 'failed' ? [reference] : []));
  expect(rows).toHaveLength(1_300);
  expect(failed.toSorted()).toEqual(names.filter((_, n) => n % 7 === 0 && n < 900).toSorted());
});

it('copies from the last run that holds rows and from the newest complete one', async () => {
  const complete = await stageRun([printed('R-1', 1)]);
  await ledger.db
    .updateTable('runs')
    .set({ finished_at: at(now), list_standing: 'complete' })
    .where('id', '=', complete)
    .execute();
  const latest = await stageRun([printed('R-1', 1)]);
  // One that died before its first row.
  await begin();
  const run = await begin();
  expect(await runsToCarryFrom(ledger.db, run)).toEqual([latest, complete]);
});
