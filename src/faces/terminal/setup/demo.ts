import { copyFile, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDocument } from 'yaml';
import * as applyJob from '../../../../jobs/apply-webhooks.ts';
import * as intakeJob from '../../../../jobs/intake.ts';
import * as reconcileJob from '../../../../jobs/reconcile.ts';
import * as reportJob from '../../../../jobs/report.ts';
import * as submitJob from '../../../../jobs/submit.ts';
import { type App, openApp } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import { batchCounts } from '../../../core/ledger/batches.ts';
import { loadConfig } from '../../../core/settings/settings.ts';
import { createDaemon } from '../../../daemon/daemon.ts';
import { type BookSums, bookSums, compareBooks, compareFindings } from '../../../demo/compare-books.ts';
import { faultsOf, plan, stranger } from '../../../demo/plan.ts';
import { createSandbox, type Sandbox } from '../../../sandbox/sandbox.ts';
import { type Result, Stop } from '../context/result.ts';
import type { Context } from '../context/world.ts';
import { countsText, totalsText } from '../kit/describe.ts';
import { runInit } from './init.ts';

const samples = fileURLToPath(new URL('../../../../data/samples/', import.meta.url));

/** `demo`: runs the whole loop on real parts against the built-in sandbox, with one planted discrepancy of each kind. */
export async function demo(context: Context): Promise<Result> {
  const dir = await mkdtemp(join(tmpdir(), 'counterfoil-demo-'));
  const sandbox = await createSandbox({
    faults: faultsOf(plan),
    settleMs: 200,
    webhookRetryMs: 50,
    strictSignature: true,
  });
  try {
    await prepare(dir, sandbox);
    const env = {
      COUNTERFOIL_TEST_SECRET_KEY: sandbox.keys.test.secretKey,
      COUNTERFOIL_TEST_PUBLIC_KEY: sandbox.keys.test.publicKey,
      COUNTERFOIL_TEST_ENCRYPTION_KEY: sandbox.keys.test.encryptionKey,
    };
    const loaded = loadConfig({ cwd: dir, env });
    if (loaded.kind === 'problem') throw new Stop(loaded.problems.join('\n'), 1);
    const app = await openApp('whole', { config: loaded.config, kind: 'demo', breathes: true });
    const daemon = createDaemon(app);
    try {
      const { url } = await daemon.start();
      sandbox.setWebhookUrl(`${url}/webhooks/test`);
      return await play(context, app, sandbox);
    } finally {
      await daemon.stop();
      await app.close();
    }
  } finally {
    await sandbox.stop();
  }
}

async function prepare(dir: string, sandbox: Sandbox): Promise<void> {
  await runInit(dir);
  const path = join(dir, 'config', 'counterfoil.yaml');
  const settings = parseDocument(await readFile(path, 'utf8'));
  const demoSettings: Record<string, Record<string, unknown>> = {
    service: { base_url: sandbox.url, requests_per_second: 0 },
    intake: { settle_seconds: 0 },
    submission: { quiet_period_minutes: 0 },
    receiver: { port: 0 },
    admin: { enabled: false },
    reconciliation: { stale_pending_hours: 0, webhook_grace_minutes: 0, missing_grace_minutes: 0 },
    schedules: { intake: '', submit: '', follow_up: '', reconcile: '', reconcile_full: '', report: '' },
  };
  for (const [section, values] of Object.entries(demoSettings))
    for (const [key, value] of Object.entries(values)) settings.setIn([section, key], value);
  await writeFile(path, settings.toString());
  for (const name of ['november-salaries.csv', 'contractors-zar.csv']) {
    await copyFile(join(samples, name), join(dir, 'data', 'inbox', name));
  }
}

async function play(context: Context, app: App, sandbox: Sandbox): Promise<Result> {
  const step = (line: string): void => {
    if (!context.options.quiet) context.say(line);
  };
  step('1  intake: two batches from the inbox');
  const taken = await intakeJob.run(app);
  if (taken.taken !== 2) throw new Stop(`the demo's batches were not taken in: ${JSON.stringify(taken)}`, 1);
  for (const { batch, totals } of await batchCounts(app.ledger.db))
    step(`   ${batch.id}: ${batch.row_count} payouts, ${totalsText(totals)}`);
  step('2  submission: each payout signed and sent once');
  const sent = await submitJob.run(app);
  step(`   ${countsText(sent.counts)}`);
  step('3  settlement: webhooks arrive, look-ups confirm them');
  await settle(app, sandbox);
  const book = plant(sandbox);
  step('4  reconciliation: every transfer is listed and compared with the ledger');
  const run = await reconcileJob.run(app, { full: true, followUp: true });
  step(
    `   ${run.listed} transfers listed in ${run.passes} passes, ${run.matched} payouts matched, ${run.lookups} look-ups, ${counted(run.resends, 'resend request')}`,
  );
  const { files } = await reportJob.run(app);
  return describe(app, book, run, files);
}

/** Waits until all payouts have settled at the service, and every webhook was received and looked up. */
async function settle(app: App, sandbox: Sandbox): Promise<void> {
  await sandbox.settleAll();
  for (let round = 0; round < 100; round++) {
    const { applied, lookups } = await applyJob.run(app);
    if (applied + lookups === 0) return;
  }
}

/** Plants faults in what the service shows, after reading its true book. */
function plant(sandbox: Sandbox): BookSums {
  sandbox.book.plant({ reference: stranger.reference, amount: '75000.00', currency: 'NGN' });
  const book = bookSums(sandbox);
  for (const { reference, change } of plan) {
    const [transfer] = sandbox.book.find(reference);
    if (change && transfer) sandbox.book.change(transfer.id, change);
  }
  return book;
}

async function describe(
  app: App,
  book: BookSums,
  run: reconcileJob.ReconcileResult,
  files: string[],
): Promise<Result> {
  const findings = await compareFindings(app);
  const books = await compareBooks(app, book);
  const batches = await batchCounts(app.ledger.db);
  const paths = [
    ...new Set([
      ...batches.flatMap(({ batch }) =>
        ['results.csv', 'results.xlsx'].map((name) => join(app.paths.reports, batch.id, name)),
      ),
      ...files,
      ...run.reports,
    ]),
  ];
  const agree = findings.agree && books.agree;
  return {
    code: agree ? 0 : 1,
    ...(!agree && { problem: 'the demo did not end as it should: see MISSED, NOT PLANTED or DIFFER above' }),
    lines: [
      '',
      'Batches',
      ...batches.map(({ batch, state, counts }) => `  ${batch.id}: ${state}; ${countsText(counts)}`),
      '',
      'Planted against found',
      ...findings.lines,
      '',
      "The service's own book against the ledger",
      ...books.lines,
      '',
      'Reports (open index.html, or results.xlsx in a spreadsheet)',
      ...paths.map((path) => `  ${path}`),
    ],
    json: { shape: 'demo', fields: { agree, run: run.run, reports: paths } },
  };
}
