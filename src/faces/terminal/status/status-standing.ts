import type { App } from '../../../app/app.ts';
import { countOpen, openByBatch, openGroups } from '../../../books/discrepancies/discrepancies.sql.ts';
import { isReadySince, payoutOverview } from '../../../books/overview.sql.ts';
import { type LastRun, lastRun, webhooksAtRun } from '../../../books/run-verdicts.sql.ts';
import { batchCounts } from '../../../core/ledger/batches.ts';
import { lookUpLag } from '../../../core/ledger/inquiry-claims.ts';
import { foreignOrigins } from '../../../core/ledger/origins.ts';
import { openRejectedFiles } from '../../../core/ledger/rejected-files.ts';
import { type Finding, isShown, plainFinding } from '../../../findings/finding.ts';
import type { KindsOn } from '../../../findings/kinds.ts';
import { lookUpFinding } from '../../../findings/overdue-findings.ts';
import { fileFinding, openFindings, payoutFindings, runFindings } from '../../../findings/person-findings.ts';
import { findAttention } from '../../../sending/attention.sql.ts';
import { collectionCounts } from '../../../watching/collections/collection-watch.sql.ts';
import { waivedListing } from '../../../watching/listing/waived-listing.sql.ts';
import { forgedSince } from '../../../watching/webhooks/webhook-figures.sql.ts';
import { countDiffering, countRejections } from '../../../watching/webhooks/webhook-inbox.sql.ts';
import { webhookCounts } from '../../../watching/webhooks/webhooks.sql.ts';
import type { Terminal } from '../kit/terminal.ts';
import { alertsStanding } from './alerts-standing.ts';
import { daemonStanding, isIdle, jobsStanding } from './jobs-standing.ts';
import { promisedStanding } from './promised.ts';
import { queueStanding } from './queue-standing.ts';
import { brakesStanding } from './waiting.ts';

type Standing = Awaited<ReturnType<typeof readStanding>>;
export type StatusFacts = Standing & { findings: Finding<KindsOn<'status'>>[] };

export async function statusFacts(app: App<'looking'>, terminal: Terminal): Promise<StatusFacts> {
  const standing = await readStanding(app, terminal);
  return { ...standing, findings: findingsOf(standing) };
}

async function readStanding(app: App<'looking'>, terminal: Terminal) {
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

/**
 * Everything that needs a person, in the order in which something helps. Payouts held only until their batch is taken in
 * do not. Batches are read before their counts, so that one which is taken in meanwhile is not counted.
 */
function findingsOf(seen: Standing): StatusFacts['findings'] {
  const loaded = seen.batches.filter(({ state }) => state !== 'loading');
  const sum = (state: 'unknown' | 'held'): number =>
    loaded.reduce((all, { counts }) => all + (counts[state] ?? 0), 0);
  return [
    ...(seen.halted?.kinds ?? []).map((kind) => plainFinding('sending_halted', kind)),
    ...openFindings(seen.groups),
    ...seen.jobs.flatMap(({ finding }) => finding ?? []),
    ...payoutFindings('payout_unknown', sum('unknown')),
    ...payoutFindings('payout_held', sum('held')),
    ...seen.rejected.map(fileFinding),
    ...runFindings(seen.lastRun),
    ...(seen.brakes.failed ? [plainFinding('payout_kept')] : []),
    ...(seen.isStuck ? [plainFinding('sending_idle')] : []),
    ...(seen.alerts.lost ? [plainFinding('message_lost')] : []),
  ];
}

async function lookUpsStanding({ ledger: { db }, clock }: App<'looking'>) {
  const lag = await lookUpLag(db, clock.iso());
  const seen = lookUpFinding(lag, clock.now());
  const isLate = seen !== null && isShown(seen, 'doctor');
  return { due: lag.due, overdue_seconds: isLate ? Math.round(seen.measure / 1000) : null };
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
