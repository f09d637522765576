import type { App } from '../app/app.ts';
import { collectionCounts } from '../collections/collection-watch.sql.ts';
import { batchCounts } from '../ledger/batches.ts';
import { lookUpLag, overdueMs } from '../ledger/inquiry-claims.ts';
import { foreignOrigins } from '../ledger/origins.ts';
import { openRejectedFiles } from '../ledger/rejected-files.ts';
import { waivedListing } from '../listing/waived-listing.sql.ts';
import { countOpen, openByBatch, openGroups } from '../reconciliation/discrepancies.sql.ts';
import { isReadySince, payoutOverview } from '../reporting/overview.sql.ts';
import { type LastRun, lastRun, webhooksAtRun } from '../reporting/run-verdicts.sql.ts';
import { findAttention } from '../sending/attention.sql.ts';
import { forgedSince } from '../webhooks/webhook-figures.sql.ts';
import { countDiffering, countRejections } from '../webhooks/webhook-inbox.sql.ts';
import { webhookCounts } from '../webhooks/webhooks.sql.ts';
import { alertsStanding } from './alerts-standing.ts';
import { daemonStanding, isIdle, jobsStanding } from './jobs-standing.ts';
import { promisedStanding } from './promised.ts';
import { queueStanding } from './queue-standing.ts';
import type { Terminal } from './terminal/terminal.ts';
import { brakesStanding } from './waiting.ts';

export type StatusFacts = Awaited<ReturnType<typeof statusFacts>>;

export async function statusFacts(app: App<'looking'>, terminal: Terminal) {
  const { db } = app.ledger;
  const daemon = await daemonStanding(app);
  const idle = await isIdle(app, daemon);
  const last = await lastRun(db, await foreignOrigins(db, app.account));
  const hourAgo = new Date(app.clock.now() - 3_600_000).toISOString();
  return {
    terminal,
    daemon,
    jobs: await jobsStanding(app, { daemon, idle }),
    halted: await app.findHalt(),
    waived: await waivedListing(db, app.account),
    batches: await batchCounts(db),
    overview: await payoutOverview(db),
    discrepancies: await countOpen(db),
    openByBatch: await openByBatch(db),
    groups: await openGroups(db),
    lastRun: last,
    webhooks: await webhooksStanding(app, last),
    lookUps: await lookUpsStanding(app),
    collections: await collectionCounts(db),
    queue: await queueStanding(app),
    inbox: await app.lying(),
    rejected: await openRejectedFiles(db),
    needed: await findAttention(db),
    brakes: await brakesStanding(app, terminal),
    promised: await promisedStanding(app),
    isStuck: idle && (await isReadySince(db, hourAgo)),
    alerts: await alertsStanding(app),
  };
}

async function lookUpsStanding({ ledger: { db }, clock }: App<'looking'>) {
  const lag = await lookUpLag(db, clock.iso());
  const waitsMs = overdueMs(lag, clock.now());
  return { due: lag.due, overdue_seconds: waitsMs === null ? null : Math.round(waitsMs / 1000) };
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
