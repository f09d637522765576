import { findFallBarrier } from '../core/ledger/barriers.ts';
import { lookUpLag } from '../core/ledger/inquiry-claims.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Host } from '../core/runtime/host.ts';
import { allJobs, isOwnJob } from '../core/runtime/jobs.sql.ts';
import { within } from '../core/runtime/queue-session.ts';
import type { Config } from '../core/settings/settings.ts';
import { forbiddenLedgerFile } from '../core/storage/failure.ts';
import { freeBytes } from '../core/storage/free-space.ts';
import type { Db, Ledger } from '../core/storage/ledger.ts';
import { webhookLag } from '../watching/webhooks/webhook-tallies.sql.ts';
import { type Finding, isShown, plainFinding } from './finding.ts';
import { jobFindings } from './job-findings.ts';
import type { KindsOn } from './kinds.ts';
import { probeLedger } from './ledger-probe.sql.ts';
import { lookUpFinding, webhookFinding } from './overdue-findings.ts';

/** A queue whose jobs must move: `probe` resolves once a job was taken and given. */
export type ProbedQueue = { name: string; probe(): Promise<{ kind: 'moves' | 'paused' }> };

export type WorkDeps = {
  ledger: Pick<Ledger, 'write'>;
  /** Reads without waiting for writers. */
  reader: Db;
  clock: Clock;
  config: Pick<Config, 'dataDir' | 'schedules'>;
  host: Host;
  queues(): readonly ProbedQueue[];
};

type WorkFinding = Finding<KindsOn<'ready'>>;
type Check = (deps: WorkDeps) => Promise<WorkFinding[]>;

/** How long a probe may take before it counts as failed. */
const patienceMs = 5000;

/**
 * Finds out why work does not move, by moving some: it writes to the ledger and passes a job through the queue. A halt
 * is not among it: it is a decision that waits for a person, and starting the process again would not help. A ledger
 * that went back in time is: the wrong database may be behind its address.
 */
export function createWorkFindings(deps: WorkDeps): () => Promise<WorkFinding[]> {
  const { reader, clock, config, host } = deps;
  const checks: Check[] = [
    createLedgerCheck(),
    // P25: nothing is sent until the ledger is adopted.
    readOr('ledger', async () => {
      const fall = await findFallBarrier(reader);
      if (!fall) return [];
      const { at, why, advice } = fall;
      return [{ ...plainFinding('ledger_behind'), since: at, facts: { why, advice } }];
    }),
    queueFindings,
    readOr('webhooks', async () => [webhookFinding(await webhookLag(reader), clock.now())]),
    readOr('look_ups', async () => [lookUpFinding(await lookUpLag(reader, clock.iso()), clock.now())]),
    readOr('schedules', async () => {
      // The folders of another host are no work of this process.
      const pasts = (await allJobs(reader)).filter((past) => isOwnJob(past, host));
      return jobFindings('ready', pasts, { schedules: config.schedules, nowMs: clock.now() });
    }),
    diskCheck,
  ];
  return async () =>
    (await Promise.all(checks.map((one) => one(deps)))).flat().filter((one) => isShown(one, 'ready'));
}

/** A write that waits for a lock goes on after its time: the next check waits for the same one. */
function createLedgerCheck(): Check {
  let writing: Promise<void> | undefined;
  return async ({ ledger, clock }) => {
    writing ??= probeLedger(ledger).finally(() => {
      writing = undefined;
    });
    try {
      await within(clock, patienceMs, writing);
      return [];
    } catch (error) {
      const facts = { why: messageOf(error), forbidden: forbiddenLedgerFile(error)?.place ?? null };
      return [{ ...plainFinding('ledger_unwritable'), facts }];
    }
  };
}

/** The queues that keep their jobs. */
export async function queueFindings({
  clock,
  queues,
}: Pick<WorkDeps, 'clock' | 'queues'>): Promise<Finding<'queue_stuck'>[]> {
  const found = queues().map(async ({ name, probe }): Promise<Finding<'queue_stuck'>[]> => {
    const stuck = (why: string | null) => [{ ...plainFinding('queue_stuck', name), facts: { why } }];
    try {
      const { kind } = await within(clock, patienceMs, probe());
      return kind === 'moves' ? [] : stuck(null);
    } catch (error) {
      return stuck(messageOf(error));
    }
  });
  return (await Promise.all(found)).flat();
}

async function diskCheck({ config }: WorkDeps): Promise<WorkFinding[]> {
  try {
    const free = await freeBytes(config.dataDir);
    return [{ ...plainFinding('disk_full'), measure: free, facts: { free } }];
  } catch (error) {
    return [{ ...plainFinding('disk_unseen'), facts: { why: messageOf(error) } }];
  }
}

/** A ledger that cannot even be read is a finding too. `part`: which check needed it. */
function readOr(part: string, read: () => Promise<(WorkFinding | null)[]>): Check {
  return async () => {
    try {
      return (await read()).filter((one) => one !== null);
    } catch (error) {
      return [{ ...plainFinding('ledger_unreadable', part), facts: { why: messageOf(error) } }];
    }
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
