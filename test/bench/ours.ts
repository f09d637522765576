import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as reconcileJob from '../../jobs/reconcile.ts';
import * as reportJob from '../../jobs/report.ts';
import * as submitJob from '../../jobs/submit.ts';
import { type App, openApp } from '../../src/app/app.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import type { Service } from './service.ts';

/** The whole worker in `dir` against `service`, with no rate limit and nothing that runs by itself. */
export async function openBenchApp(dir: string, service: Service, concurrency: number): Promise<App> {
  const settings = {
    mode: 'test',
    service: { base_url: service.url, concurrency, requests_per_second: 0 },
    receiver: { enabled: false },
    reconciliation: { missing_grace_minutes: 0 },
  };
  await mkdir(join(dir, 'config'), { recursive: true });
  await writeFile(join(dir, 'config', 'counterfoil.yaml'), JSON.stringify(settings));
  const env = {
    COUNTERFOIL_TEST_SECRET_KEY: service.keys.secretKey,
    COUNTERFOIL_TEST_PUBLIC_KEY: service.keys.publicKey,
    COUNTERFOIL_TEST_ENCRYPTION_KEY: service.keys.encryptionKey,
  };
  const loaded = loadConfig({ cwd: dir, env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  return openApp('whole', {
    config: loaded.config,
    log: createLogger({ quiet: true }),
    breathes: true,
    kind: 'bench',
  });
}

export async function check(app: App, file: string, rows: number): Promise<void> {
  const checked = await app.intake.check(file);
  expectCount('rows checked', checked.rows, rows);
}

/** Takes the file in and returns the batch. */
export async function takeIn(app: App, file: string, rows: number): Promise<string> {
  const [taken] = (await app.intake.takeFiles([file], { origin: 'named' })).taken;
  if (taken?.kind !== 'taken') throw new Error(`not taken in: ${JSON.stringify(taken).slice(0, 500)}`);
  expectCount('rows taken in', taken.rows, rows);
  if (taken.holdReasons.length > 0) throw new Error(`held: ${JSON.stringify(taken.holdReasons)}`);
  return taken.batch;
}

export async function submit(app: App, rows: number): Promise<void> {
  const { counts } = await submitJob.run(app);
  expectCount('payouts accepted', counts.accepted, rows);
}

/** Asks for the details of the first `count` payouts. */
export async function lookUp(app: App, count: number): Promise<void> {
  const payouts = await app.ledger.db.selectFrom('payouts').select('id').orderBy('id').limit(count).execute();
  const words = await app.lookUps.lookUp(payouts.map(({ id }) => id));
  expectCount('payouts found', [...words.values()].filter((word) => word === 'found').length, count);
}

/** One reconciliation, which must match every payout and find nothing wrong; returns how often it read the list. */
export async function reconcile(app: App, rows: number): Promise<number> {
  const run = await reconcileJob.run(app, { full: true, followUp: true });
  expectCount('payouts matched', run.matched, rows);
  if (run.complete !== true || Object.keys(run.discrepancies.open).length > 0)
    throw new Error(`not a clean reconciliation: ${JSON.stringify(run)}`);
  return run.passes;
}

export async function countSuccesses(app: App): Promise<number> {
  const query = app.ledger.db.selectFrom('payouts').select((eb) => eb.fn.countAll<bigint>().as('n'));
  return Number((await query.where('state', '=', 'success').executeTakeFirstOrThrow()).n);
}

/** Writes everything again: the batch's results, and the last run's files and the index. */
export async function report(app: App, batch: string): Promise<void> {
  await app.reporting.writeBatchResults(batch, { force: true });
  await reportJob.run(app);
}

/** A figure is worth nothing when the work was not done. */
export function expectCount(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found}, expected ${expected}`);
}
