import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { ledgerMetrics } from '../../src/faces/admin/ledger-metrics.ts';
import { createProcessMetrics } from '../../src/faces/admin/process-metrics.ts';

/** Reads a file of config/deploy. */
export function readDeployed(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../config/deploy/${path}`, import.meta.url)), 'utf8');
}

const rulesShape = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.object({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});

/** The alerts of config/deploy, in their order. */
export function readAlerts(): z.infer<typeof rulesShape>['groups'][number]['rules'] {
  return rulesShape.parse(parse(readDeployed('prometheus/alerts.yml'))).groups.flatMap(({ rules }) => rules);
}

const at = '2026-11-22T15:00:00.000Z';

/** Every metric of a daemon as Prometheus text: a ledger in which each part has something to show. */
export async function everyMetric(): Promise<string> {
  // The delay of the event loop is there after a minute.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const ofProcess = createProcessMetrics();
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  ofProcess.onRequest({ operation: 'bank_transfer', result: '2xx', seconds: 1 });
  const job = {
    lastRunAt: at,
    lastSuccessAt: at,
    endedAt: at,
    kind: 'succeeded',
    lastResult: null,
    runner: null,
  } as const;
  const jobs = ['intake', 'submit', 'follow_up', 'reconcile', 'reconcile_full', 'report'];
  const figures: Parameters<typeof ledgerMetrics>[0] = {
    payouts: [{ currency: 'NGN', state: 'ready', count: 1, amount: 100n }],
    oldest: [],
    batches: {},
    attempts: { byOutcome: [], underWay: 0 },
    halts: [],
    webhooks: {
      received: 1,
      applied: { success: 1 },
      rejected: {},
      lastReceivedAt: at,
      unapplied: 0,
      oldestUnapplied: null,
    },
    jobs: jobs.map((name) => ({ ...job, job: name, host: '', place: '', tries: 0, expression: '* * * * *' })),
    run: { startedAt: at, verdict: 'reconciled', currencies: [], unexplained: { NGN: '0.00' } },
    discrepancies: [],
    clockSkewMs: 0,
    ledgerBytes: 1,
    freeBytes: 1,
  };
  const ofLedger = await ledgerMetrics(figures, {
    nowMs: Date.parse(at),
    certificates: [{ server: 'receiver', validTo: Date.parse(at) }],
    build: { version: '1', mode: 'test', ledger: 'sqlite', queue: 'inline' },
    queue: { up: true, jobs: 1 },
  });
  const text = ofLedger + (await ofProcess.text());
  ofProcess.stop();
  return text;
}
