import type { App } from '../app/app.ts';
import { collectionCounts } from '../collections/collection-watch.sql.ts';
import { visible } from '../domain/hidden.ts';
import { isUsable, type Verdict } from '../domain/verdict.ts';
import { waitingWhy } from '../domain/waiting-file.ts';
import { batchCounts } from '../ledger/batches.ts';
import { readReasons } from '../ledger/hold-reasons.ts';
import { foreignOrigins } from '../ledger/origins.ts';
import { countOpen } from '../reconciliation/discrepancies.sql.ts';
import { isReadySince, payoutOverview } from '../reporting/overview.sql.ts';
import { type LastRun, lastRun } from '../reporting/run-verdicts.sql.ts';
import { findAttention } from '../sending/attention.sql.ts';
import { holdTexts } from '../sending/hold-words.ts';
import { webhookFigures } from '../webhooks/webhook-figures.sql.ts';
import { countDiffering, countRejections } from '../webhooks/webhook-inbox.sql.ts';
import { webhookCounts } from '../webhooks/webhooks.sql.ts';
import { countsText, haltText, standText } from './describe.ts';
import {
  type DaemonStanding,
  daemonStanding,
  isIdle,
  type JobStanding,
  jobProblem,
  jobsStanding,
  whyOf,
} from './jobs-standing.ts';
import { promisedStanding } from './promised.ts';
import { queueStanding, queueText } from './queue-standing.ts';
import type { Result } from './result.ts';
import { attentionLines } from './submit-result.ts';
import { verdictWords } from './verdict-text.ts';
import { brakesStanding } from './waiting.ts';
import { withApp } from './with-app.ts';
import type { Context } from './world.ts';

/** `status`: shows where everything stands, also that no daemon runs or files wait. */
export async function status(context: Context): Promise<Result> {
  return withApp(context, { level: 'looking', use: 'reads' }, async (app) => {
    const daemon = await daemonStanding(app);
    const idle = await isIdle(app, daemon);
    const jobs = await jobsStanding(app, { daemon, idle });
    const json = {
      ...(await gather(app)),
      daemon,
      schedules: jobs.map(({ job, last_run_at, last_result, next_run_at, late }) => {
        return { job, last_run_at, last_result, next_run_at, late };
      }),
    };
    const needed = await findAttention(app.ledger.db);
    const brakes = await brakesStanding(app);
    const promised = await promisedStanding(app);
    const { halted, batches, payouts, totals, discrepancies, webhooks, inbox } = json;
    const isStuck = idle && (await isReadySince(app.ledger.db, hourAgo(app)));
    const lines = [
      `mode           ${json.mode}`,
      ...(halted ? [`HALTED         ${haltText(halted)} (${standText(payouts.ready ?? 0)})`] : []),
      `daemon         ${daemonText(daemon)}`,
      `inbox          ${inbox.files} file(s) waiting`,
      ...inbox.waiting.slice(0, 10).map(({ name, why }) => `  waiting: ${visible(name)}: ${waitingWhy(why)}`),
      ...inbox.ignored.slice(0, 10).map(({ name, why }) => `  ignored: ${name}: ${why}`),
      ...promised.lines,
      `batches        ${batches.length === 0 ? '0 (nothing was taken in yet)' : batches.length}`,
      ...batches.slice(-10).map((b) => `  ${b.batch}  ${b.state}  ${countsText(b.payouts)}`),
      // Batches of any age: each waits for a person.
      ...batches.flatMap((b) => b.hold_reasons.map((reason) => `  held: ${b.batch}: ${reason}`)),
      ...attentionLines(needed),
      ...brakes.lines,
      `payouts        ${countsText(payouts)}`,
      ...Object.entries(totals).map(
        ([currency, states]) =>
          `  ${currency}  ${Object.entries(states)
            .map(([state, amount]) => `${state} ${amount}`)
            .join(', ')}`,
      ),
      ...lastRunLines(json.last_run),
      `discrepancies  ${discrepancyText(discrepancies, json.last_run)}`,
      `webhooks       ${webhooks.received} received, ${webhooks.applied} applied, ${webhooks.rejected} rejected`,
      ...(webhooks.differing > 0
        ? [
            `               ${webhooks.differing} named a reference in X-Webhook-Reference that their body does not name: every named payout was looked up`,
          ]
        : []),
      ...(webhooks.due + webhooks.forged > 0
        ? [
            `               ${webhooks.heard} of ${webhooks.due} due webhooks were received (${webhooks.late} late, ${webhooks.resent} after asking again), ${webhooks.forged} forged since the last run`,
          ]
        : []),
      ...(Object.keys(json.collections).length > 0 ? [`collections    ${countsText(json.collections)}`] : []),
      `queue          ${queueText(json.queue)}`,
      ...jobs.flatMap((job) => jobLines(job, daemon)),
      ...(isStuck
        ? [
            `${payouts.ready} payouts are ready, and nothing that sends has run for an hour: start counterfoil serve, or run counterfoil submit from cron`,
          ]
        : []),
    ];
    // Payouts held only until their batch is taken in wait for nobody.
    const loading = batches
      .filter(({ state }) => state === 'loading')
      .map((batch) => batch.payouts.held ?? 0);
    const held = (payouts.held ?? 0) - loading.reduce((a, b) => a + b, 0);
    const waits = (payouts.unknown ?? 0) + held > 0;
    const loose = json.last_run !== null && json.last_run.verdict !== 'reconciled';
    const person =
      Boolean(halted) ||
      brakes.failed ||
      Object.keys(discrepancies).length > 0 ||
      waits ||
      loose ||
      isStuck ||
      jobs.some((job) => jobProblem(job) !== null);
    const unknown = needed.unknown.first.map(({ reference }) => reference);
    return {
      code: person ? 4 : 0,
      lines,
      json: { ...json, unknown, withheld: needed.withheld.first, ...brakes.json, ...promised.json },
    };
  });
}

type LastRunJson = ReturnType<typeof lastRunJson>;

function lastRunJson(last: LastRun | undefined) {
  if (!last) return null;
  const { run, startedAt, list, verdict, currencies } = last;
  const verdicts: Record<string, Verdict> = Object.fromEntries(
    currencies.map(({ currency, verdict: one }) => [currency, one]),
  );
  return { run, started_at: startedAt, list, verdict, verdicts };
}

function lastRunLines(last: LastRunJson): string[] {
  if (last === null) return ['last run       none at this account: counterfoil reconcile makes one'];
  const all = Object.entries(last.verdicts).map(
    ([currency, verdict]) => `${currency} ${verdictWords[verdict]}`,
  );
  const words = all.length > 0 ? all.join(', ') : verdictWords[last.verdict];
  return [`last run       ${last.run}, begun ${last.started_at}: ${words}`];
}

/** Open discrepancies. Says "not checked", never "none", when no list was compared. */
function discrepancyText(open: Record<string, number>, last: LastRunJson): string {
  const known = Object.keys(open).length > 0;
  if (last !== null && isUsable(last.list)) return countsText(open);
  return known ? `${countsText(open)} known; others not checked` : 'not checked';
}

function daemonText({ running, elsewhere = false }: DaemonStanding): string {
  if (running) return 'running';
  return elsewhere
    ? 'running on this ledger, but for another data folder: files in this inbox wait for counterfoil submit, or for counterfoil serve here'
    : 'not running (start it with counterfoil serve, or run submit and reconcile from cron)';
}

/** When a job last ran and how, when it runs next, and what is wrong with it. */
function jobLines(job: JobStanding, { running, elsewhere }: DaemonStanding): string[] {
  const { last_run_at: at, last_result: result, next_run_at: next } = job;
  const last = at === null ? 'never' : `${at}${result ? ` (${result.kind})` : ''}`;
  const off = job.expression.trim() === '' ? 'off' : running || elsewhere ? 'never' : 'none: no daemon runs';
  const problem = jobProblem(job);
  const why = problem ?? (result?.kind === 'skipped' ? `it was skipped: ${whyOf(result)}` : null);
  return [
    `  ${job.job.padEnd(15)} last ${last}, next ${next ?? off}`,
    ...(why === null ? [] : [`                  ${problem === null ? '' : 'ATTENTION: '}${why}`]),
  ];
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
    halted: halt ? { cause: halt.cause, at: halt.at, kinds: halt.kinds } : null,
    batches: (await batchCounts(db)).map((b) => ({
      batch: b.batch.id,
      file: b.batch.file_name,
      rows: Number(b.batch.row_count),
      state: b.state,
      payouts: b.counts,
      totals: b.totals,
      hold_reasons: b.state === 'held' ? holdTexts(readReasons(b.batch.hold_reasons), b.batch.id) : [],
    })),
    ...overview,
    discrepancies: await countOpen(db),
    last_run: lastRunJson(await lastRun(db, await foreignOrigins(db, app.account))),
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
