import { basename } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as applyWebhooks from '../../jobs/apply-webhooks.ts';
import * as followUp from '../../jobs/follow-up.ts';
import * as intake from '../../jobs/intake.ts';
import * as reconcile from '../../jobs/reconcile.ts';
import * as report from '../../jobs/report.ts';
import * as requeue from '../../jobs/requeue.ts';
import * as submit from '../../jobs/submit.ts';
import { type App, openApp } from '../../src/app/app.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { createInlineQueue } from '../../src/core/runtime/queue-inline.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { batchOf, csv, type Home, makeHome, row } from '../support/cli.ts';

async function opened(
  options: SandboxOptions = {},
  settings: Record<string, string> = {},
): Promise<{ home: Home; app: App }> {
  const home = await makeHome(options, { COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0', ...settings });
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const app = await openApp('whole', {
    config: loaded.config,
    log: createLogger({ quiet: true }),
    kind: 'test',
  });
  onTestFinished(() => app.close());
  return { home, app };
}

it('intake counts what it took, refused and left waiting', async () => {
  const { home, app } = await opened();
  home.put('data/inbox/good.csv', batchOf(2));
  home.put('data/inbox/bad.csv', 'nothing\n');
  const first = await intake.run(app);
  expect(first).toMatchObject({
    taken: 1,
    refused: 1,
    waiting: 0,
    batches: [expect.stringMatching(/^good-/)],
  });
  expect(await intake.run(app)).toEqual({
    taken: 0,
    refused: 0,
    waiting: 0,
    batches: [],
    collections: 0,
  });
});

it('intake tells of each file that was refused, whole or in some rows, and shows no account number', async () => {
  const { home, app } = await opened({}, { COUNTERFOIL_INTAKE_ON_INVALID_ROW: 'skip_row' });
  home.put('data/inbox/some.csv', csv(row(1), row(2, { account: '1234567890123456789012' })));
  home.put('data/inbox/whole.csv', csv(row(3, { account: '1234567890123456789012' })));
  home.put('data/inbox/other.csv', csv());
  const told: string[] = [];
  await intake.run(app, { onRefused: (file, why) => told.push(`${basename(file)}: ${why}`) });
  expect(told.toSorted()).toEqual([
    expect.stringMatching(/^other\.csv: refused, 1 problem, see .*other\.errors\.csv: .*no rows$/),
    expect.stringMatching(/^some\.csv: 1 row was left out: .*some\.invalid\.csv/),
    expect.stringMatching(/^whole\.csv: refused, 1 problem, see .*whole\.errors\.csv$/),
  ]);
  expect(told.join()).not.toContain('1234567890123456789012');
});

it('submit counts every outcome, and a second run sends nothing', async () => {
  const { home, app } = await opened({ faults: { 'PAY-0002': 'lost_answer', 'PAY-0003': 'refuse_24' } });
  home.put('data/inbox/pay.csv', batchOf(4));
  await intake.run(app);
  const sent = await submit.run(app);
  expect(sent).toMatchObject({
    ended: 'drained',
    tookOver: 0,
    counts: { accepted: 2, refused: 1, unknown: 1 },
  });
  const again = await submit.run(app);
  expect(again.counts).toEqual({ accepted: 0, refused: 0, not_sent: 0, turned_away: 0, unknown: 0 });
  expect(home.sandbox.requests.posts).toBe(4);
});

it('a payout turned away is asked about first, then sent (P8)', async () => {
  const { home, app } = await opened({ faults: { 'PAY-0001': 'rate_limited_once' } });
  home.put('data/inbox/pay.csv', batchOf(2));
  await intake.run(app);
  const sent = await submit.run(app);
  expect(sent).toMatchObject({ ended: 'drained', counts: { accepted: 2, turned_away: 1 } });
  expect(home.sandbox.book.moneyMoved('PAY-0001')).toBeLessThanOrEqual(1);
  expect(home.sandbox.book.find('PAY-0001')).toHaveLength(1);
});

it('apply-webhooks and follow-up are quiet when nothing was heard and nothing is due', async () => {
  const { app } = await opened();
  expect(await applyWebhooks.run(app)).toEqual({ applied: 0, lookups: 0 });
  expect(await followUp.run(app)).toEqual({ tookOver: 0, applied: 0, lookups: 0, resends: 0 });
});

it('reconcile counts what it listed and matched, report writes its files', async () => {
  const { home, app } = await opened();
  home.put('data/inbox/pay.csv', batchOf(3));
  await intake.run(app);
  await submit.run(app);
  await home.sandbox.settleAll();
  const run = await reconcile.run(app, { full: false, followUp: true });
  expect(run).toMatchObject({ complete: true, listed: 3, matched: 3, discrepancies: { open: {} } });
  const { files } = await report.run(app);
  expect(files).toEqual(
    expect.arrayContaining([expect.stringContaining(run.run), expect.stringContaining('index.html')]),
  );
});

it('requeue wakes submit once while something is ready, however it was woken, and nothing when all is sent', async () => {
  const { home, app } = await opened();
  const queue = createInlineQueue({
    clock: app.clock,
    retry: { attempts: 1, backoffMs: 1 },
    onFailed: () => {},
  });
  onTestFinished(async () => void (await queue.close(1000)));
  const queues = { own: queue, shared: null, word: 'monday' };
  expect(await requeue.run(app, queues)).toEqual({ added: [], hasWork: false });
  home.put('data/inbox/pay.csv', batchOf(1));
  await intake.run(app);
  expect(await requeue.run(app, { ...queues, word: null }), 'no schedule says so').toEqual({
    added: [],
    hasWork: false,
  });
  expect(await requeue.run(app, queues)).toEqual({ added: ['submit'], hasWork: true });
  expect(await queue.add({ name: 'submit', id: 'submit', payload: {} }), 'as the daemon wakes it').toBe(
    'known',
  );
});
