import type { App } from '../../../app/app.ts';
import { countOpen, openByBatch, openGroups } from '../../../books/discrepancies/discrepancies.sql.ts';
import { payoutOverview } from '../../../books/overview.sql.ts';
import { type LastRun, lastRun, webhooksAtRun } from '../../../books/run-verdicts.sql.ts';
import { batchCounts } from '../../../core/ledger/batches.ts';
import { foreignOrigins } from '../../../core/ledger/origins.ts';
import { openRejectedFiles } from '../../../core/ledger/rejected-files.ts';
import { finders, findOn, type Scene } from '../../../findings/finders.ts';
import { isShown } from '../../../findings/finding.ts';
import { findAttention } from '../../../sending/attention.sql.ts';
import { collectionCounts } from '../../../watching/collections/collection-watch.sql.ts';
import { waivedListing } from '../../../watching/listing/waived-listing.sql.ts';
import { forgedSince } from '../../../watching/webhooks/webhook-figures.sql.ts';
import { countDiffering, countRejections } from '../../../watching/webhooks/webhook-inbox.sql.ts';
import { webhookCounts } from '../../../watching/webhooks/webhooks.sql.ts';
import { sayHalt } from '../../../words/halt-words.ts';
import type { Terminal } from '../kit/terminal.ts';
import { alertsStanding } from './alerts-standing.ts';
import { daemonStanding, jobsStanding, sceneOf } from './jobs-standing.ts';
import { promisedStanding } from './promised.ts';
import { queueStanding } from './queue-standing.ts';
import { brakesStanding } from './waiting.ts';

export type StatusFacts = Awaited<ReturnType<typeof statusFacts>>;

export async function statusFacts(app: App<'looking'>, terminal: Terminal) {
  const { db } = app.ledger;
  const daemon = await daemonStanding(app);
  const scene = await sceneOf(app, 'status', daemon);
  const last = await lastRun(db, await foreignOrigins(db, app.account));
  const queue = await queueStanding(app);
  return {
    terminal,
    daemon,
    jobs: await jobsStanding(app, daemon, scene),
    halted: sayHalt(await app.findHalt()),
    waived: await waivedListing(db, app.account),
    batches: await batchCounts(db),
    overview: await payoutOverview(db),
    discrepancies: await countOpen(db),
    openByBatch: await openByBatch(db),
    groups: await openGroups(db),
    lastRun: last,
    webhooks: await webhooksStanding(app, last),
    lookUps: await lookUpsStanding(scene),
    collections: await collectionCounts(db),
    queue,
    inbox: await app.lying(),
    rejected: await openRejectedFiles(db),
    needed: await findAttention(db),
    brakes: await brakesStanding(app, terminal),
    promised: await promisedStanding(app),
    alerts: await alertsStanding(app),
    findings: await findOn(scene),
  };
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
