import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  addSheetRows,
  beginFreeze,
  hasRunRows,
  placedFrom,
  runRows,
} from '../../src/books/run-sheets.sql.ts';
import { addDiscrepancy, addPayout, addRun, cut, makeWorld, runId, type World } from './support.ts';

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.close());

const nights = ['20261122T020000Z', '20261123T020000Z', '20261124T020000Z'];

async function freeze(run: string): Promise<void> {
  const { db } = world.ledger;
  const there = await db.selectFrom('runs').select('id').where('id', '=', run).executeTakeFirst();
  if (!there) await db.insertInto('runs').values({ id: run, started_at: cut, history_mark: 0n }).execute();
  await world.reporting.freezeRun(run, cut);
}

/** Every byte that the reports of the run hold, by file. */
async function bytesOf(run: string): Promise<Record<string, string>> {
  const files = await world.reporting.writeRun(run);
  return Object.fromEntries(files.map((file) => [file, readFileSync(file).toString('base64')]));
}

const countRows = async (): Promise<number> =>
  (await world.ledger.db.selectFrom('run_rows').select('sheet').execute()).length;

it('stores a row once for all nights in which it is the same, and writes every run again byte for byte', async () => {
  await addRun(world.ledger);
  for (let n = 0; n < 40; n++)
    await addPayout(world.ledger, `R${n}`, ['ready', 'sending', 'pending', 'success']);
  await freeze(runId);
  const first = await bytesOf(runId);
  // The nights read no list, unlike the first run: each differs from that one and not from the other.
  await freeze(nights[0] ?? '');
  const rows = await countRows();
  for (const night of nights.slice(1)) await freeze(night);
  expect(await countRows()).toBe(rows);
  await world.ledger.db.updateTable('payouts').set({ fee: '1.00' }).where('reference', '=', 'R7').execute();
  await addPayout(world.ledger, 'R40', ['ready']);
  await addDiscrepancy(world.ledger, 'D1', { payout_id: 1n, reference: 'R0' });
  await freeze('20261125T020000Z');
  const changed = await bytesOf('20261125T020000Z');
  await world.ledger.db.deleteFrom('discrepancies').execute();
  await freeze('20261126T020000Z');
  expect(await bytesOf(runId)).toEqual(first);
  expect(await bytesOf('20261125T020000Z')).toEqual(changed);
  expect(await countRows()).toBeLessThan(rows + 30);
});

it('marks a row that equals the one of the run before, instead of storing it twice', async () => {
  await addRun(world.ledger);
  await freeze(runId);
  const [header = ''] = (await runRows(world.ledger.db, runId, 'ageing').next()).value ?? [];
  const since = await beginFreeze(world.ledger);
  const rows = placedFrom(0, [JSON.parse(header), ['new']]);
  await world.ledger.write((trx) => addSheetRows(trx, since, 'ageing', rows));
  const { db } = world.ledger;
  const stored = await db
    .selectFrom('run_rows')
    .select(['sheet', 'cells'])
    .where('since', '=', since)
    .execute();
  expect(stored).toEqual([
    { sheet: '=ageing', cells: '' },
    { sheet: 'ageing', cells: '["new"]' },
  ]);
});

it('reads the run before the same while another freeze goes on, was interrupted, and begins again', async () => {
  await addRun(world.ledger);
  for (let n = 0; n < 5; n++) await addPayout(world.ledger, `R${n}`, ['ready']);
  await freeze(runId);
  const first = await bytesOf(runId);
  await world.ledger.db.updateTable('payouts').set({ fee: '1.00' }).execute();
  const [night = ''] = nights;
  await world.ledger.db.insertInto('runs').values({ id: night, started_at: cut, history_mark: 0n }).execute();
  const dies = world.reporting.freezeRun(night, cut, () => Promise.reject(new Error('killed')));
  await expect(dies).rejects.toThrow('killed');
  expect(await bytesOf(runId)).toEqual(first);
  await expect(world.reporting.writeRun(night)).rejects.toThrow('did not finish');
  expect(await hasRunRows(world.ledger.db, night, 'payouts')).toBe(false);
  await world.ledger.db.updateTable('payouts').set({ fee: null }).where('reference', '=', 'R1').execute();
  await freeze(night);
  expect(await bytesOf(runId)).toEqual(first);
  const fees: string[] = [];
  for await (const page of runRows(world.ledger.db, night, 'payouts'))
    fees.push(...page.map((cells) => String(JSON.parse(cells)[12])));
  expect(fees).toEqual(['fee', '1.00', '', '1.00', '1.00', '1.00']);
});

it('deletes what an interrupted freeze left, however much, and nothing of a frozen run', async () => {
  await addRun(world.ledger);
  await freeze(runId);
  const rows = await countRows();
  const left = Array.from({ length: 6000 }, (_, n) => ({
    sheet: 'payouts',
    position: BigInt(n),
    since: 2n,
    cells: '[]',
  }));
  for (let from = 0; from < left.length; from += 1000)
    await world.ledger.db
      .insertInto('run_rows')
      .values(left.slice(from, from + 1000))
      .execute();
  expect(await beginFreeze(world.ledger)).toBe(2n);
  expect(await countRows()).toBe(rows);
});

it('freezes no run under a number that another process took meanwhile', async () => {
  await addRun(world.ledger);
  const both = [runId, nights[0] ?? ''];
  await world.ledger.db
    .insertInto('runs')
    .values({ id: both[1] ?? '', started_at: cut, history_mark: 0n })
    .execute();
  const results = await Promise.allSettled(both.map((run) => world.reporting.freezeRun(run, cut)));
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
});
