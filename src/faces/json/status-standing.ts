import type { App } from '../../app/app.ts';
import { batchesDue } from '../../books/batch-results.sql.ts';
import { countOpen, openByBatch, openGroups } from '../../books/discrepancies/discrepancies.sql.ts';
import { payoutOverview } from '../../books/overview.sql.ts';
import { runsDue } from '../../books/reports-due.sql.ts';
import { type LastRun, lastRun, webhooksAtRun } from '../../books/run-verdicts.sql.ts';
import { unpaidTotals } from '../../books/unpaid.sql.ts';
import { runFolder } from '../../core/domain/run-folder.ts';
import { batchCounts } from '../../core/ledger/batches.ts';
import { openFileTasks } from '../../core/ledger/file-tasks.ts';
import { foreignOrigins } from '../../core/ledger/origins.ts';
import { openRejectedFiles } from '../../core/ledger/rejected-files.ts';
import { hostNamed } from '../../core/runtime/jobs.sql.ts';
import { lostFindings } from '../../findings/file-findings.ts';
import { finders, findOn, type Scene } from '../../findings/finders.ts';
import { isShown } from '../../findings/finding.ts';
import { approvalsOf } from '../../sending/approvals.sql.ts';
import { findAttention } from '../../sending/attention.sql.ts';
import { collectionCounts } from '../../watching/collections/collection-watch.sql.ts';
import { waivedListing } from '../../watching/listing/waived-listing.sql.ts';
import { forgedSince } from '../../watching/webhooks/webhook-figures.sql.ts';
import { countDiffering, countRejections } from '../../watching/webhooks/webhook-inbox.sql.ts';
import { webhookCounts } from '../../watching/webhooks/webhooks.sql.ts';
import { sayHalt } from '../../words/halt-words.ts';
import { alertsStanding } from './alerts-standing.ts';
import { daemonStanding, jobsStanding, sceneOf } from './jobs-standing.ts';
import { queueStanding } from './queue-standing.ts';

export type StatusFacts = Awaited<ReturnType<typeof statusFacts>>;

/** Everything that `status` shows. */
export async function statusFacts(app: App<'looking'>) {
  const { db } = app.ledger;
  const daemon = await daemonStanding(app);
  const scene = await sceneOf(app, 'status', daemon);
  const last = await lastRun(db, await foreignOrigins(db, app.account));
  const queue = await queueStanding(app);
  return {
    daemon,
    jobs: await jobsStanding(app, daemon, scene),
    halted: sayHalt(await app.findHalt()),
    waived: await waivedListing(db, app.account),
    batches: await batchCounts(db),
    overview: await payoutOverview(db),
    unpaid: await unpaidTotals(db),
    discrepancies: await countOpen(db),
    openByBatch: await openByBatch(db),
    groups: await openGroups(db),
    lastRun: last,
    webhooks: await webhooksStanding(app, last),
    lookUps: await lookUpsStanding(scene),
    collections: await collectionCounts(db),
    queue,
    inbox: await app.lying(),
    rejected: await rejectedStanding(app),
    needed: await findAttention(db),
    brakes: await brakesStanding(app),
    promised: await promisedFiles(app),
    alerts: await alertsStanding(app),
    findings: await findOn(scene),
  };
}

/** Files that were refused. `host`: the machine on which one lies; null for this one. */
async function rejectedStanding({ ledger: { db }, host }: App<'looking'>) {
  const hostOf = async (machine: string): Promise<string | null> =>
    machine === '' || machine === host.id ? null : (await hostNamed(db, machine)) || 'another machine';
  const files = await openRejectedFiles(db);
  return Promise.all(files.map(async (file) => ({ ...file, host: await hostOf(file.machine) })));
}

async function lookUpsStanding(scene: Scene) {
  const [found] = await finders.look_ups_overdue(scene);
  const isLate = found !== undefined && isShown(found, 'status');
  return { due: found?.count ?? 0, overdue_seconds: isLate ? Math.round(found.measure / 1000) : null };
}

/** What counts every paid payout is computed by each run: here it is as of the last one. */
async function webhooksStanding({ ledger: { db }, clock }: App<'looking'>, last: LastRun | undefined) {
  const { received, applied, oldestUnapplied } = await webhookCounts(db);
  const waitsMs = oldestUnapplied ? clock.now() - Date.parse(oldestUnapplied) : null;
  return {
    received,
    applied,
    rejected: await countRejections(db),
    differing: await countDiffering(db),
    oldest_unapplied_seconds: waitsMs === null ? null : Math.round(waitsMs / 1000),
    forged: await forgedSince(db),
    at_last_run: last ? await webhooksAtRun(db, last.run) : null,
  };
}

/** Daily limits, what is ready but waits, and approvals. */
async function brakesStanding({ brakes, ledger }: App<'looking'>) {
  const approvals = [...(await approvalsOf(ledger.db)).values()].flat();
  return { daily: await brakes.daily(), waits: await brakes.waits(), approvals };
}

/** File work that is promised and not done yet (P34), and files that differ from the promise. */
export async function promisedFiles({ ledger, clock }: App<'looking'>) {
  const findings = await lostFindings(ledger.db, clock.now());
  return {
    open: await openFileTasks(ledger.db),
    lost: findings.flatMap(({ facts }) => facts.lost),
    changed: findings.flatMap(({ facts }) => facts.changed),
    reports: [...(await runsDue(ledger.db)).map((run) => runFolder(run)), ...(await batchesDue(ledger.db))],
    findings,
  };
}
