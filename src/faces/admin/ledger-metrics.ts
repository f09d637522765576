import { Counter, Gauge, Registry } from 'prom-client';
import { discrepancyKinds, severities } from '../../core/domain/discrepancy-kinds.ts';
import { formatMinor } from '../../core/domain/money.ts';
import { attemptOutcomes } from '../../core/domain/outcome.ts';
import { batchStates, countedStates, openStates } from '../../core/domain/payout.ts';
import { webhookRejectionKinds } from '../../core/domain/rejection.ts';
import { verdicts } from '../../core/domain/verdict.ts';
import { haltKindShape } from '../../core/shapes/parts.ts';
import type { HaltKind } from '../../sending/halt.ts';
import type { LedgerFigures } from './ledger-figures.sql.ts';

/** What a scrape says beside the figures of the ledger. */
export type MetricFacts = {
  nowMs: number;
  /** When each server's certificate ends, ms since the epoch. */
  certificates: readonly { server: string; validTo: number }[];
  build: { version: string; mode: string; ledger: string; queue: string };
  /** `jobs`: queued or running; null where nobody here can know. */
  queue: { up: boolean; jobs: number | null };
};

const haltKinds: readonly HaltKind[] = haltKindShape.options;
const jobResults = ['running', 'succeeded', 'incomplete', 'failed', 'skipped'] as const;

/**
 * The figures of a ledger as Prometheus text. Labels hold states, currencies, kinds, names of jobs and of hosts only, so that
 * their number is bounded; never a reference or an account.
 */
export function ledgerMetrics(figures: LedgerFigures, facts: MetricFacts): Promise<string> {
  const registry = new Registry();
  const add = addTo(registry);
  addPayouts(add, figures, facts.nowMs);
  addSending(add, figures);
  addWebhooks(add, figures, facts.nowMs);
  addJobs(add, figures);
  addReconciliation(add, figures, facts.nowMs);
  addSystem(add, figures, facts);
  return registry.metrics();
}

function addPayouts(add: AddSample, { payouts, oldest, batches }: LedgerFigures, nowMs: number): void {
  const currencies = [...new Set(payouts.map(({ currency }) => currency))];
  const cells = currencies.flatMap((currency) =>
    countedStates.map((state) => ({
      labels: { currency, state },
      one: payouts.find((figure) => figure.currency === currency && figure.state === state),
    })),
  );
  add.gauge(
    'counterfoil_payouts',
    'Payouts by state and currency, without those of batches that are still being taken in.',
    cells.map(({ labels, one }) => ({ labels, value: one?.count ?? 0 })),
  );
  add.gauge(
    'counterfoil_payouts_amount',
    'Amounts of the payouts by state and currency, in units of the currency (not in cents).',
    cells.map(({ labels, one }) => ({
      labels,
      value: Number(formatMinor(one?.amount ?? 0n, labels.currency)),
    })),
  );
  add.gauge(
    'counterfoil_payouts_oldest_seconds',
    'Time since the oldest payout of a state was first sent, or taken in if it never was; 0 without one.',
    openStates.map((state) => {
      const has = payouts.some((figure) => figure.state === state && figure.count > 0);
      const since = oldest.find((one) => one.state === state)?.since;
      return { labels: { state }, value: has ? secondsSince(since, nowMs) : 0 };
    }),
  );
  add.gauge(
    'counterfoil_batches',
    'Batches by state.',
    batchStates.map((state) => ({ labels: { state }, value: batches[state] ?? 0 })),
  );
}

function addSending(add: AddSample, { halts, attempts }: LedgerFigures): void {
  add.gauge(
    'counterfoil_halted',
    '1 for each cause that halts sending now.',
    haltKinds.map((cause) => ({ labels: { cause }, value: halts.includes(cause) ? 1 : 0 })),
  );
  const ended = attemptOutcomes.map((outcome) => {
    const one = attempts.byOutcome.find((figure) => figure.outcome === outcome);
    return { labels: { outcome }, value: one?.count ?? 0 };
  });
  add.gauge('counterfoil_attempts', 'Attempts to send by outcome; in_flight has none yet.', [
    ...ended,
    { labels: { outcome: 'in_flight' }, value: attempts.underWay },
  ]);
  const begun = attempts.byOutcome.reduce((sum, { count }) => sum + count, attempts.underWay);
  add.counter('counterfoil_attempts_begun_total', 'Attempts to send that were begun.', [{ value: begun }]);
}

function addWebhooks(add: AddSample, { webhooks }: LedgerFigures, nowMs: number): void {
  add.counter('counterfoil_webhooks_received_total', 'Authentic deliveries of webhooks, repeats included.', [
    { value: webhooks.received },
  ]);
  add.counter(
    'counterfoil_webhooks_applied_total',
    'Webhooks applied, by what each said.',
    samplesOf(webhooks.applied, 'verdict'),
  );
  add.counter(
    'counterfoil_webhooks_rejected_total',
    'Deliveries turned away, by reason.',
    webhookRejectionKinds.map((reason) => ({ labels: { reason }, value: webhooks.rejected[reason] ?? 0 })),
  );
  if (webhooks.lastReceivedAt !== null)
    add.gauge('counterfoil_webhook_last_received_timestamp_seconds', 'When the newest webhook came.', [
      { value: Date.parse(webhooks.lastReceivedAt) / 1000 },
    ]);
  add.gauge('counterfoil_webhooks_unapplied', 'Stored webhooks that are not applied yet.', [
    { value: webhooks.unapplied },
  ]);
  add.gauge('counterfoil_webhooks_oldest_unapplied_seconds', 'Age of the oldest of them; 0 without one.', [
    { value: secondsSince(webhooks.oldestUnapplied, nowMs) },
  ]);
}

type JobLabel = 'job_name' | 'host';

/** `host` only where a job works in the folders of one of several hosts. */
function jobLabels({ job, place }: LedgerFigures['jobs'][number]): { job_name: string; host?: string } {
  return place === '' ? { job_name: job } : { job_name: job, host: place };
}

/** The label is not `job`: Prometheus gives that name to what it scrapes. */
function addJobs(add: AddSample, { jobs }: LedgerFigures): void {
  const at = (pick: (job: LedgerFigures['jobs'][number]) => string | null): Sample<JobLabel>[] =>
    jobs.flatMap((one) => {
      const instant = pick(one);
      return instant === null ? [] : [{ labels: jobLabels(one), value: Date.parse(instant) / 1000 }];
    });
  add.gauge(
    'counterfoil_job_last_run_timestamp_seconds',
    'When a job last began.',
    at((job) => job.lastRunAt),
  );
  add.gauge(
    'counterfoil_job_last_success_timestamp_seconds',
    'When the last run of a job that did all of its work began.',
    at((job) => job.lastSuccessAt),
  );
  add.gauge(
    'counterfoil_job_last_duration_seconds',
    'How long the last run of a job took.',
    jobs.flatMap((one) => {
      const { lastRunAt, endedAt } = one;
      const ms = lastRunAt === null || endedAt === null ? -1 : Date.parse(endedAt) - Date.parse(lastRunAt);
      return ms < 0 ? [] : [{ labels: jobLabels(one), value: ms / 1000 }];
    }),
  );
  add.gauge(
    'counterfoil_job_last_result',
    '1 for how the last run of a job ended.',
    jobs.flatMap((one) =>
      jobResults.map((result) => ({
        labels: { ...jobLabels(one), result },
        value: one.kind === result ? 1 : 0,
      })),
    ),
  );
}

function addReconciliation(add: AddSample, { run, discrepancies }: LedgerFigures, nowMs: number): void {
  if (run) {
    const all = [{ currency: 'all', verdict: run.verdict }, ...run.currencies];
    add.gauge(
      'counterfoil_reconciliation_last_timestamp_seconds',
      'When the last run with a verdict began.',
      [{ value: Date.parse(run.startedAt) / 1000 }],
    );
    add.gauge(
      'counterfoil_reconciliation_verdict',
      '1 for the verdict of the last run on each currency; currency all is the worst of them.',
      all.flatMap((one) =>
        verdicts.map((verdict) => ({
          labels: { currency: one.currency, verdict },
          value: one.verdict === verdict ? 1 : 0,
        })),
      ),
    );
    add.gauge(
      'counterfoil_reconciliation_unexplained_amount',
      'What the last run could not explain, in units of the currency.',
      Object.entries(run.unexplained).map(([currency, amount]) => ({
        labels: { currency },
        value: Number(amount),
      })),
    );
  }
  add.gauge(
    'counterfoil_discrepancies',
    'Open discrepancies by kind and severity.',
    discrepancyKinds.flatMap((kind) =>
      severities.map((severity) => {
        const one = discrepancies.find((figure) => figure.kind === kind && figure.severity === severity);
        return { labels: { kind, severity }, value: one?.count ?? 0 };
      }),
    ),
  );
  add.gauge(
    'counterfoil_discrepancies_oldest_seconds',
    'Age of the oldest open discrepancy by severity; 0 without one.',
    severities.map((severity) => {
      const ages = discrepancies
        .filter((one) => one.severity === severity)
        .map(({ since }) => secondsSince(since, nowMs));
      return { labels: { severity }, value: Math.max(0, ...ages) };
    }),
  );
}

function addSystem(add: AddSample, figures: LedgerFigures, facts: MetricFacts): void {
  const { certificates, build, queue } = facts;
  add.gauge('counterfoil_ledger_size_bytes', 'What the ledger takes.', [{ value: figures.ledgerBytes }]);
  add.gauge('counterfoil_disk_free_bytes', 'Free space on the disk of the data folder.', [
    { value: figures.freeBytes },
  ]);
  add.gauge(
    'counterfoil_certificate_expiry_timestamp_seconds',
    'When the certificate of a server ends.',
    certificates.map(({ server, validTo }) => ({ labels: { server }, value: validTo / 1000 })),
  );
  if (figures.clockSkewMs !== null)
    add.gauge('counterfoil_clock_skew_seconds', 'Our clock less that of the service, at a recent look-up.', [
      { value: figures.clockSkewMs / 1000 },
    ]);
  add.gauge('counterfoil_queue_up', '1 while the queue takes jobs.', [{ value: queue.up ? 1 : 0 }]);
  if (queue.jobs !== null)
    add.gauge('counterfoil_queue_jobs', 'Jobs queued or running.', [{ value: queue.jobs }]);
  add.gauge('counterfoil_build_info', 'Always 1; the labels say what runs.', [{ labels: build, value: 1 }]);
}

function samplesOf<L extends string>(counts: Record<string, number>, label: L): Sample<L>[] {
  return Object.entries(counts).map(([name, value]) => {
    const labels: Partial<Record<L, string>> = {};
    labels[label] = name;
    return { labels, value };
  });
}

function secondsSince(instant: string | null | undefined, nowMs: number): number {
  return instant == null ? 0 : Math.max(0, (nowMs - Date.parse(instant)) / 1000);
}

/** One value of a metric; `labels` for the metric that has some. */
type Sample<L extends string = string> = { labels?: Partial<Record<L, string>>; value: number };

type AddSample = ReturnType<typeof addTo>;

/** Adds metrics with all their samples, which may have different labels. A metric without samples is left out. */
function addTo(registry: Registry) {
  const add =
    (Metric: typeof Gauge | typeof Counter) =>
    (name: string, help: string, samples: readonly Sample[]): void => {
      if (samples.length === 0) return;
      const labelNames = [...new Set(samples.flatMap(({ labels = {} }) => Object.keys(labels)))];
      const metric = new Metric({ name, help, labelNames, registers: [registry] });
      for (const { labels = {}, value } of samples) metric.inc(labels, value);
    };
  return { gauge: add(Gauge), counter: add(Counter) };
}
