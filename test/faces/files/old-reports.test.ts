import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addRun, cut, makeWorld, runId, type World } from '../../books/support.ts';

const dayMs = 24 * 60 * 60_000;
const [second, third] = ['20261122T130000Z', '20261123T130000Z'];
const yearOn = Date.parse(cut) + 365 * dayMs;
let world: World;
beforeEach(async () => {
  world = await makeWorld();
  for (const [run, at] of [
    [runId, '2026-11-21T13:00:00.000Z'],
    [second, '2026-11-22T13:00:00.000Z'],
    [third, '2026-11-23T13:00:00.000Z'],
  ] as const) {
    await addRun(world.ledger, run, at);
    await world.reporting.freezeRun(run, cut);
    await world.reporting.writeRun(run);
    age(run);
  }
});
afterEach(() => world.close());

const folderOf = (run: string): string => join(world.reports, `reconciliation-${run}`);
const kept = (): string[] => [runId, second, third].filter((run) => existsSync(folderOf(run)));

/** Makes the files of a run as old as the run. */
function age(run: string): void {
  const written = new Date(cut);
  for (const name of readdirSync(folderOf(run))) utimesSync(join(folderOf(run), name), written, written);
}

it('without reports.keep_days the files of every run stay', async () => {
  expect(await world.reporting.removeOldRuns(yearOn)).toEqual([]);
  expect(kept()).toEqual([runId, second, third]);
});

it('removes the files of runs older than reports.keep_days, and report writes the same bytes again', async () => {
  const { removeOldRuns, writeRun } = world.with('{ keep_days: 30 }');
  expect(await removeOldRuns(Date.parse(cut) + 30 * dayMs + 1000)).toEqual([runId]);
  const before = readFileSync(join(folderOf(second), 'report.html'));
  expect(await removeOldRuns(yearOn)).toEqual([second]);
  expect(kept()).toEqual([third]);
  await writeRun(second);
  expect(readFileSync(join(folderOf(second), 'report.html')).equals(before)).toBe(true);
  const lately = new Date(yearOn - dayMs);
  for (const name of readdirSync(folderOf(second))) utimesSync(join(folderOf(second), name), lately, lately);
  expect(await removeOldRuns(yearOn), 'files that were asked for again stay as long again').toEqual([]);
});

it('keeps the newest run, and the newest that could compare', async () => {
  const { removeOldRuns } = world.with('{ keep_days: 1 }');
  await world.ledger.db
    .updateTable('runs')
    .set({ list_standing: 'unread' })
    .where('id', '=', third)
    .execute();
  expect(await removeOldRuns(yearOn)).toEqual([runId]);
  expect(kept()).toEqual([second, third]);
});

it('keeps the run that a closed month names, and the folders of months and batches', async () => {
  const { removeOldRuns } = world.with('{ keep_days: 1 }');
  const period = {
    ...{ month: '2026-10', starts_at: '', ends_at: '', timezone: 'UTC', closed_at: cut, closed_by: 'ada' },
    ...{ from_history: 0n, through_history: 0n, digest: '', run_id: runId },
  };
  await world.ledger.db.insertInto('periods').values(period).execute();
  for (const folder of ['period-2026-10', 'b-20261121-000001', 'reconciliation-of-mine']) {
    mkdirSync(join(world.reports, folder));
    writeFileSync(join(world.reports, folder, 'failed.csv'), 'reference\nR1\n');
    utimesSync(join(world.reports, folder, 'failed.csv'), new Date(cut), new Date(cut));
  }
  expect(await removeOldRuns(yearOn)).toEqual([second]);
  expect(readdirSync(world.reports).toSorted()).toEqual([
    'b-20261121-000001',
    'period-2026-10',
    `reconciliation-${runId}`,
    `reconciliation-${third}`,
    'reconciliation-of-mine',
  ]);
});

it('keeps what the ledger cannot write again: a strange run, one that is due, a file of a person', async () => {
  const { removeOldRuns } = world.with('{ keep_days: 1 }');
  const strange = join(world.reports, 'reconciliation-20250101T000000Z');
  mkdirSync(strange);
  writeFileSync(join(strange, 'report.html'), 'of a ledger that is gone');
  utimesSync(join(strange, 'report.html'), new Date(cut), new Date(cut));
  await world.ledger.db.updateTable('runs').set({ reports_due: 1n }).where('id', '=', runId).execute();
  writeFileSync(join(folderOf(second), 'signed by ada.pdf'), 'scan');
  expect(await removeOldRuns(yearOn)).toEqual([second]);
  expect(existsSync(join(strange, 'report.html'))).toBe(true);
  expect(kept()).toEqual([runId, second, third]);
  expect(readdirSync(folderOf(second))).toEqual(['signed by ada.pdf']);
});

it('the index says where the files of a run are gone, and links none of them', async () => {
  const reporting = world.with('{ keep_days: 30 }');
  await reporting.removeOldRuns(yearOn);
  const html = readFileSync(await reporting.writeIndex(), 'utf8');
  expect(html).not.toContain(`href="reconciliation-${runId}/`);
  expect(html).toContain(`href="reconciliation-${third}/report.html"`);
  expect(html).toContain(`counterfoil report ${runId}`);
});
