import type { App } from '../app/app.ts';
import { collectionCounts } from '../collections/collection-watch.sql.ts';
import type { Verdict } from '../domain/verdict.ts';
import { type BatchCounts, batchCounts } from '../ledger/batches.ts';
import { foreignOrigins } from '../ledger/origins.ts';
import { countOpen, openByBatch, openGroups } from '../reconciliation/discrepancies.sql.ts';
import { isReadySince, payoutOverview } from '../reporting/overview.sql.ts';
import { type LastRun, lastRun } from '../reporting/run-verdicts.sql.ts';
import { findAttention } from '../sending/attention.sql.ts';
import { webhookFigures } from '../webhooks/webhook-figures.sql.ts';
import { countDiffering, countRejections } from '../webhooks/webhook-inbox.sql.ts';
import { webhookCounts } from '../webhooks/webhooks.sql.ts';
import { alertsStanding } from './alerts-standing.ts';
import { heldBecause } from './batch-lines.ts';
import { daemonStanding, isIdle, jobProblem, jobsStanding } from './jobs-standing.ts';
import { promisedStanding } from './promised.ts';
import { queueStanding } from './queue-standing.ts';
import type { Result } from './result.ts';
import { statusLines } from './status-lines.ts';
import { terminalOf } from './terminal/terminal.ts';
import { withheldJson } from './unknown-lines.ts';
import { brakesStanding } from './waiting.ts';
import { withApp } from './with-app.ts';
import type { Context } from './world.ts';

/** `status`: shows where everything stands, also that no daemon runs or files wait. */
export async function status(
  context: Context,
  _args: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  if (options.metrics === true) return (await import('./status-metrics.ts')).statusMetrics(context);
  return withApp(context, { level: 'looking', use: 'reads' }, async (app) => {
    const daemon = await daemonStanding(app);
    const idle = await isIdle(app, daemon);
    const jobs = await jobsStanding(app, { daemon, idle });
    const terminal = terminalOf(context, app.config, app.clock.iso());
    const { lastRun: last, batches: all, halt, ...facts } = await gather(app);
    const json = {
      ...facts,
      batches: all.map(batchJson),
      last_run: lastRunJson(last),
      halted: halt ? { cause: halt.cause, at: halt.at, kinds: halt.kinds } : null,
      daemon,
      schedules: jobs.map(({ job, last_run_at, last_result, next_run_at, late }) => {
        return { job, last_run_at, last_result, next_run_at, late };
      }),
    };
    const needed = await findAttention(app.ledger.db);
    const brakes = await brakesStanding(app, terminal);
    const promised = await promisedStanding(app);
    const isStuck = idle && (await isReadySince(app.ledger.db, hourAgo(app)));
    const alerts = await alertsStanding(app);
    const waiting =
      brakes.failed ||
      alerts.lost ||
      isStuck ||
      waits(json.payouts, all) ||
      jobs.some((job) => jobProblem(job) !== null);
    const loose = last !== undefined && last.verdict !== 'reconciled';
    const needsPerson = Boolean(halt) || waiting || loose || Object.keys(json.discrepancies).length > 0;
    const standing = {
      ...{ mode: json.mode, halted: halt, batches: all, lastRun: last, needed, terminal },
      ...{ payouts: json.payouts, webhooks: json.webhooks, collections: json.collections },
      ...{ inbox: json.inbox, queue: json.queue, daemon, jobs, isStuck, needsPerson },
      openByBatch: await openByBatch(app.ledger.db),
      groups: await openGroups(app.ledger.db),
      brakes: brakes.lines,
      promised: promised.lines,
      alerts: alerts.problems,
    };
    const unknown = needed.unknown.first.map(({ reference }) => reference);
    return {
      code: needsPerson ? 4 : 0,
      lines: statusLines(standing),
      json: {
        ...json,
        alerts: alerts.json,
        unknown,
        withheld: withheldJson(needed.withheld),
        ...brakes.json,
        ...promised.json,
      },
    };
  });
}

/** Unknown and held payouts wait for a person, but not those held only until their batch is taken in. */
function waits({ unknown = 0, held = 0 }: Partial<Record<string, number>>, batches: BatchCounts[]): boolean {
  const loading = batches.filter(({ state }) => state === 'loading').map(({ counts }) => counts.held ?? 0);
  return unknown + held - loading.reduce((a, b) => a + b, 0) > 0;
}

function batchJson({ batch, state, counts, totals }: BatchCounts) {
  return {
    batch: batch.id,
    file: batch.file_name,
    rows: Number(batch.row_count),
    state,
    payouts: counts,
    totals,
    hold_reasons: heldBecause(batch, state),
  };
}

function lastRunJson(last: LastRun | undefined) {
  if (!last) return null;
  const { run, startedAt, list, verdict, currencies } = last;
  const verdicts: Record<string, Verdict> = Object.fromEntries(
    currencies.map(({ currency, verdict: one }) => [currency, one]),
  );
  return { run, started_at: startedAt, list, verdict, verdicts };
}

function hourAgo({ clock }: App<'looking'>): string {
  return new Date(clock.now() - 3_600_000).toISOString();
}

async function gather(app: App<'looking'>) {
  const { config, ledger, clock } = app;
  const { mode } = config;
  const { db } = ledger;
  const halt = await app.findHalt();
  const counts = await webhookCounts(db);
  const figures = await webhookFigures(db, {
    enabled: config.receiver.enabled,
    now: clock.iso(),
    graceMs: config.reconciliation.webhookGraceMinutes * 60_000,
  });
  const overview = await payoutOverview(db);
  return {
    mode,
    halt,
    batches: await batchCounts(db),
    ...overview,
    discrepancies: await countOpen(db),
    lastRun: await lastRun(db, await foreignOrigins(db, app.account)),
    webhooks: {
      received: counts.received,
      applied: counts.applied,
      rejected: await countRejections(db),
      differing: await countDiffering(db),
      oldest_unapplied_seconds: counts.oldestUnapplied
        ? Math.round((clock.now() - Date.parse(counts.oldestUnapplied)) / 1000)
        : null,
      ...figures,
    },
    collections: await collectionCounts(db),
    queue: await queueStanding(app),
    inbox: await app.lying(),
  };
}
