import { expect, it, onTestFinished } from 'vitest';
import * as submitJob from '../../../../jobs/submit.ts';
import { createSandbox } from '../../../../src/sandbox/sandbox.ts';
import { addBatch } from '../../../support/ledger.ts';
import { type Dashboard, startDashboard } from './support.ts';

const textOf = (body: string): string =>
  (/<main.*<\/main>/s.exec(body)?.[0] ?? '').replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

/** A dashboard whose payouts were sent to a service that takes its time. */
async function sentSlowly(count: number): Promise<Dashboard> {
  const sandbox = await createSandbox({ settleMs: 0, latencyMs: 400 });
  onTestFinished(() => sandbox.stop());
  const dashboard = await startDashboard({ service: sandbox });
  await addBatch(
    dashboard.ledger,
    Array.from({ length: count }, (_, n) => `R-${n}`),
  );
  await submitJob.run(dashboard.app, {});
  return dashboard;
}

const runsPage = async ({ as }: Dashboard, path = '/runs') => textOf((await as('bola', path)).body);
const countRuns = async ({ ledger }: Dashboard) =>
  (await ledger.db.selectFrom('runs').select('id').execute()).length;

it('makes one reconciliation of two presses, and shows its verdict at the end', async () => {
  const dashboard = await sentSlowly(5);
  const { post } = dashboard;
  const first = await post('bola', '/runs');
  expect([first.status, first.headers.location]).toEqual([303, '/runs']);
  expect(await runsPage(dashboard)).toContain('A reconciliation runs');
  const second = await post('bola', '/runs', { full: 'yes' });
  expect([second.status, second.headers.location]).toEqual([303, '/runs?already=yes']);
  const again = await runsPage(dashboard, '/runs?already=yes');
  expect(again).toContain('no second one was begun');
  expect(again).not.toContain('Reconcile the whole list');
  await expect
    .poll(() => runsPage(dashboard), { timeout: 20_000 })
    .toContain('The last reconciliation: reconciled');
  expect(await runsPage(dashboard)).toContain('Reconcile the whole list');
  expect(await countRuns(dashboard)).toBe(1);
});

it('says how many transfers a run has seen, and of how many', async () => {
  const dashboard = await sentSlowly(5);
  const { app, as, post, ledger } = dashboard;
  await post('bola', '/runs', { full: 'yes' });
  await expect
    .poll(() => runsPage(dashboard), { timeout: 20_000 })
    .toContain('The last reconciliation: reconciled');
  const versionOf = async () => /data-version="([^"]+)"/.exec((await as('bola', '/runs')).body)?.[1];
  const before = await versionOf();
  // As a run in this process leaves its first rows.
  const began = app.clock.iso();
  const run = '20991121T100001Z';
  await app.jobsStore.note('reconcile', { at: began, by: app.workers.id, expression: null });
  await ledger.db
    .insertInto('runs')
    .values({ id: run, started_at: began, finished_at: null, summary: null, history_mark: 0n })
    .execute();
  const rows = await ledger.db.selectFrom('listed').selectAll().limit(3).execute();
  for (const row of rows)
    await ledger.db
      .insertInto('listed')
      .values({ ...row, run_id: run })
      .execute();
  await expect
    .poll(() => runsPage(dashboard), { timeout: 20_000 })
    .toMatch(/It reads the list and compares it\. .* 3 transfers seen; the last whole list had 5\./);
  expect(await runsPage(dashboard, `/runs/${run}`)).toMatch(/3 transfers seen.* Verdict runs now/);
  expect(await versionOf()).not.toBe(before);
});

it('says that a reconciliation died, and lets a person begin another', async () => {
  const dashboard = await sentSlowly(1);
  const { app, post, ledger } = dashboard;
  const began = '2026-11-21T10:00:00.000Z';
  await app.jobsStore.note('reconcile', { at: began, by: 'gone', expression: null });
  await ledger.db
    .insertInto('runs')
    .values({ id: '20261121T100001Z', started_at: began, finished_at: null, summary: null, history_mark: 0n })
    .execute();
  const page = await runsPage(dashboard);
  expect(page).toContain('A reconciliation died');
  expect(page).toContain('died before its end');
  expect(page).toContain('Reconcile now');
  expect(await runsPage(dashboard, '/runs/20261121T100001Z')).toContain('A reconciliation died');
  await post('bola', '/runs');
  expect(await runsPage(dashboard)).toContain('A reconciliation runs');
  await expect
    .poll(() => runsPage(dashboard), { timeout: 20_000 })
    .toContain('The last reconciliation: reconciled');
});
