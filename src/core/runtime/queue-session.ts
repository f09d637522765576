import type { Clock } from './clock.ts';
import type { Job, RetryPolicy } from './queue.ts';

/** The part of BullMQ's Queue that this program uses. */
export type BullQueue = {
  getJob(id: string): Promise<unknown>;
  add(name: string, data: Job['payload'], options: object): Promise<unknown>;
  getJobCounts(): Promise<Record<string, number>>;
  isPaused(): Promise<boolean>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ioredis:close', listener: () => void): unknown;
  disconnect(): Promise<void>;
};

/** The part of BullMQ's Worker that this program uses. */
export type BullWorker = {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ioredis:close', listener: () => void): unknown;
  pause(doNotWaitActive?: boolean): Promise<void>;
  resume(): Promise<void>;
  close(force?: boolean): Promise<void>;
  disconnect(): Promise<void>;
};

/** The part of BullMQ's Job that this program uses. */
export type BullJob = {
  id?: string | undefined;
  data: Job['payload'];
  attemptsMade: number;
};

export type WorkerOptions = { concurrency: number; paused: boolean };

/** One server behind BullMQ. */
export type Wire = {
  /** Throws when the server does not answer, is too old, or accepts no writes. */
  check(): Promise<void>;
  queue(name: string): BullQueue;
  worker(name: string, run: (job: BullJob) => Promise<void>, options: WorkerOptions): BullWorker;
  /** Closes what its queues and workers share, after each of them. */
  end(): void;
};

/** One connection to the queue's server, from its opening until its first trouble. */
export type QueueSession = {
  add(job: Job): Promise<'added' | 'known'>;
  work(name: string, concurrency: number): void;
  depth(names: readonly string[]): Promise<number>;
  /** True where the server hands out no jobs of one of these names. */
  isPaused(names: readonly string[]): Promise<boolean>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Fetches no more jobs, and lets running ones report their end. */
  finish(): Promise<void>;
  /** Cuts the connection; running jobs continue, and their reports are lost. */
  drop(): void;
  dropped: AbortSignal;
};

/** A server that does not answer a command for this long counts as gone. */
const answerMs = 5000;

/**
 * BullMQ's messages for a job that this worker lost: its lock ran out, or the server was emptied. They do not concern
 * the connection, and the claims in the ledger decide which process sends.
 */
const jobTrouble = /missing (key|lock)|could not renew lock|not in the active state|stalled more than/i;

/** Starts to use a server that answered. `onTrouble` is called with the first sign that it no longer does. */
export function openQueueSession(
  wire: Wire,
  deps: {
    clock: Clock;
    retry: RetryPolicy;
    isPaused(): boolean;
    run(name: string, job: BullJob, dropped: AbortSignal): Promise<void>;
    onTrouble(error: Error): void;
  },
): QueueSession {
  const { clock, retry } = deps;
  const queues = new Map<string, BullQueue>();
  const workers: BullWorker[] = [];
  const dropped = new AbortController();
  let finishing = false;

  const trouble = (error: Error): void => {
    if (!dropped.signal.aborted && !finishing && !jobTrouble.test(error.message)) deps.onTrouble(error);
  };
  const watch = (part: BullQueue | BullWorker): void => {
    part.on('error', trouble);
    part.on('ioredis:close', () => trouble(new Error('the connection was closed')));
  };
  const queueOf = (name: string): BullQueue => {
    const known = queues.get(name);
    if (known) return known;
    const queue = wire.queue(name);
    watch(queue);
    queues.set(name, queue);
    return queue;
  };
  const answered = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await within(clock, answerMs, work);
    } catch (error) {
      const problem = error instanceof Error ? error : new Error(String(error));
      trouble(problem);
      throw problem;
    }
  };
  return {
    dropped: dropped.signal,
    add: (job) =>
      answered(
        (async () => {
          const queue = queueOf(job.name);
          if (await queue.getJob(job.id)) return 'known';
          await queue.add(job.name, job.payload, {
            jobId: job.id,
            attempts: retry.attempts,
            backoff: { type: 'exponential', delay: retry.backoffMs },
            // A finished job that stays would block its id from being added again.
            removeOnComplete: true,
            removeOnFail: true,
            ...(job.delayMs && { delay: job.delayMs }),
          });
          return 'added';
        })(),
      ),
    work(name, concurrency) {
      const run = (job: BullJob): Promise<void> => deps.run(name, job, dropped.signal);
      const worker = wire.worker(name, run, { concurrency, paused: deps.isPaused() });
      watch(worker);
      workers.push(worker);
    },
    depth: (names) =>
      answered(
        Promise.all(names.map((name) => queueOf(name).getJobCounts())).then((counts) =>
          counts.flatMap((one) => Object.values(one)).reduce((sum, count) => sum + count, 0),
        ),
      ),
    isPaused: (names) =>
      answered(
        Promise.all(names.map((name) => queueOf(name).isPaused())).then((all) => all.some((one) => one)),
      ),
    pause: async () => void (await Promise.all(workers.map((worker) => worker.pause(true)))),
    resume: async () => void (await Promise.all(workers.map((worker) => worker.resume()))),
    async finish() {
      finishing = true;
      await Promise.all(workers.map((worker) => worker.close()));
    },
    drop() {
      dropped.abort();
      // A worker that is closing waits for its jobs and cannot be hurried; its connections can be cut.
      const ends = [
        ...workers.map((worker) => (finishing ? worker.disconnect() : worker.close(true))),
        ...[...queues.values()].map((queue) => queue.disconnect()),
      ];
      void Promise.allSettled(ends).then(wire.end);
    },
  };
}

/** Rejects when the work takes longer; its later result is ignored. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const waiting = new AbortController();
  const late = clock.sleep(ms, waiting.signal).then(() => {
    if (!waiting.signal.aborted) throw new Error(`no answer within ${ms / 1000} s`);
    return work;
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    waiting.abort();
    late.catch(() => undefined);
  }
}
