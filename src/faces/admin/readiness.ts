import { counted } from '../../core/domain/counted.ts';
import { findFallBarrier } from '../../core/ledger/barriers.ts';
import { lookUpLag, overdueMs } from '../../core/ledger/inquiry-claims.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { Host } from '../../core/runtime/host.ts';
import { isJobLate, isUnderWay } from '../../core/runtime/job-times.ts';
import { allJobs, isOwnJob, type JobPast, jobName } from '../../core/runtime/jobs.sql.ts';
import { within } from '../../core/runtime/queue-session.ts';
import { scheduleList } from '../../core/settings/schedule-list.ts';
import type { Config } from '../../core/settings/settings.ts';
import { forbiddenLedgerFile } from '../../core/storage/failure.ts';
import type { Db, Ledger } from '../../core/storage/ledger.ts';
import { webhookLag } from '../../watching/webhooks/webhook-tallies.sql.ts';
import { adviceText } from '../../words/advice-text.ts';
import type { Unready } from './health.ts';
import { freeBytes } from './ledger-figures.sql.ts';
import { probeLedger } from './ledger-probe.sql.ts';

/** A queue whose jobs must move: `probe` resolves once a job was taken and given. */
export type ProbedQueue = { name: string; probe(): Promise<{ kind: 'moves' | 'paused' }> };

type Deps = {
  ledger: Pick<Ledger, 'write'>;
  /** Reads without waiting for writers. */
  reader: Db;
  clock: Clock;
  config: Pick<Config, 'dataDir' | 'schedules'>;
  host: Host;
  /** False until the daemon has started all of its work. */
  isStarted(): boolean;
  queues(): readonly ProbedQueue[];
};

type Check = (deps: Deps) => Promise<Unready[]>;

/** How long a probe may take before it counts as failed. */
const patienceMs = 5000;
/** Monitors that ask more often get the answer before. */
const freshMs = 1000;
const oldestWebhookMs = 60_000;
/** Below this a disk counts as full: the next intake, journal or report would not fit. */
const leastFreeBytes = 64 * 1024 * 1024;

/**
 * Finds out why work does not move, by moving some: it writes to the ledger and passes a job through the queue. A halt
 * is no problem here: it is a decision that waits for a person, and starting the process again would not help. A ledger
 * that went back in time is one: the wrong database may be behind its address.
 */
export function createReadiness(deps: Deps): () => Promise<Unready[]> {
  const { clock } = deps;
  let last: { atMs: number; answer: Promise<Unready[]> } | undefined;
  const checks: Check[] = [
    createLedgerCheck(),
    fallProblem,
    queueProblems,
    webhookProblem,
    lookUpProblem,
    scheduleProblems,
    diskProblem,
  ];
  const check = async (): Promise<Unready[]> =>
    deps.isStarted() ? (await Promise.all(checks.map((one) => one(deps)))).flat() : [starting];
  return () => {
    const nowMs = clock.monotonic();
    if (!last || nowMs - last.atMs > freshMs) last = { atMs: nowMs, answer: check() };
    return last.answer;
  };
}

const starting: Unready = {
  check: 'start',
  problem: 'the daemon is still starting',
  fix: 'wait; the log says what takes long',
};

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
      const forbidden = forbiddenLedgerFile(error);
      const fix = forbidden
        ? adviceText({ kind: 'give_file', place: forbidden.place })
        : 'make room on its disk, start its server, or end the program that keeps it locked; counterfoil doctor says more';
      return [{ check: 'ledger', problem: `the ledger cannot be written (${reasonOf(error)})`, fix }];
    }
  };
}

export async function queueProblems({ clock, queues }: Pick<Deps, 'clock' | 'queues'>): Promise<Unready[]> {
  const found = await Promise.all(
    queues().map(async ({ name, probe }): Promise<Unready[]> => {
      try {
        const { kind } = await within(clock, patienceMs, probe());
        if (kind === 'moves') return [];
        const problem = `the ${name} queue is paused: it keeps its jobs`;
        return [{ check: 'queue', problem, fix: 'resume it where it was paused, such as a dashboard' }];
      } catch (error) {
        const problem = `the ${name} queue takes and gives no jobs (${reasonOf(error)})`;
        const fix = 'check the server of queue.url; counterfoil doctor says more';
        return [{ check: 'queue', problem, fix }];
      }
    }),
  );
  return found.flat();
}

/** P25: nothing is sent until the ledger is adopted. */
async function fallProblem({ reader }: Deps): Promise<Unready[]> {
  return readOr('ledger', async () => {
    const fall = await findFallBarrier(reader);
    return fall ? [{ check: 'ledger', problem: fall.why, fix: adviceText({ kind: 'adopt' }) }] : [];
  });
}

async function webhookProblem({ reader, clock }: Deps): Promise<Unready[]> {
  return readOr('webhooks', async () => {
    const { oldestUnapplied } = await webhookLag(reader);
    const ageMs = oldestUnapplied === null ? 0 : clock.now() - Date.parse(oldestUnapplied);
    if (Math.abs(ageMs) <= oldestWebhookMs) return [];
    const problem =
      ageMs < 0
        ? 'a stored webhook, received before the clock was set back, has not been applied'
        : `a stored webhook has not been applied for ${Math.round(ageMs / 1000)} s`;
    const fix = 'read the log of serve for the error; starting it again applies what is stored';
    return [{ check: 'webhooks', problem, fix }];
  });
}

async function lookUpProblem({ reader, clock }: Deps): Promise<Unready[]> {
  return readOr('look_ups', async () => {
    const lag = await lookUpLag(reader, clock.iso());
    const waitsMs = overdueMs(lag, clock.now());
    if (waitsMs === null) return [];
    const problem = `${counted(lag.due, 'look-up')} ${lag.due === 1 ? 'is' : 'are'} overdue, the oldest for ${Math.round(waitsMs / 1000)} s: payouts wait for the answers`;
    const fix =
      'counterfoil doctor says whether the service answers; service.requests_per_second limits how fast it is asked';
    return [{ check: 'look_ups', problem, fix }];
  });
}

async function scheduleProblems({ reader, clock, config, host }: Deps): Promise<Unready[]> {
  const { timezone } = config.schedules;
  const expressions = new Map(scheduleList(config.schedules).map(({ job, expression }) => [job, expression]));
  return readOr('schedules', async () => {
    // The folders of another host are no work of this process.
    const pasts = (await allJobs(reader)).filter((past) => isOwnJob(past, host));
    return pasts.flatMap((past) => {
      const expression = expressions.get(past.job) ?? '';
      const problem =
        expression.trim() === '' ? null : jobTrouble(past, { expression, timezone }, clock.now());
      const fix = 'counterfoil status says why; the log of serve has the error';
      return problem === null ? [] : [{ check: 'schedules', job: past.job, problem, fix }];
    });
  });
}

function jobTrouble(
  past: JobPast,
  { expression, timezone }: { expression: string; timezone: string },
  nowMs: number,
): string | null {
  const { kind } = past;
  const job = jobName(past);
  if (kind === 'failed') return `the last run of ${job} failed`;
  if (kind === 'incomplete') return `the last run of ${job} was incomplete`;
  const late = !isUnderWay(past, nowMs) && isJobLate(expression, timezone, past, nowMs);
  return late ? `${job} is overdue: ${expression} has passed without it` : null;
}

async function diskProblem({ config }: Deps): Promise<Unready[]> {
  const free = await freeBytes(config.dataDir).catch((error: unknown) => reasonOf(error));
  if (typeof free === 'string') {
    const problem = `the disk of the data folder cannot be looked at (${free})`;
    return [
      { check: 'disk', problem, fix: 'see that the folder is there, and that this account may use it' },
    ];
  }
  if (free >= leastFreeBytes) return [];
  const problem = `${Math.floor(free / 1024 / 1024)} MiB are free on the disk of the data folder`;
  return [{ check: 'disk', problem, fix: 'free some space: a full disk stops sending' }];
}

/** A ledger that cannot even be read is reported, not thrown. */
async function readOr(check: string, read: () => Promise<Unready[]>): Promise<Unready[]> {
  try {
    return await read();
  } catch (error) {
    const problem = `the ledger cannot be read (${reasonOf(error)})`;
    return [{ check, problem, fix: 'counterfoil doctor says more' }];
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
