import type { Clock } from './clock.ts';
import type { Job, RetryPolicy } from './queue.ts';

/** What is used of BullMQ's Queue. */
export type BullQueue = {
  getJob(id: string): Promise<unknown>;
  add(name: string, data: Job['payload'], options: object): Promise<unknown>;
  getJobCounts(): Promise<Record<string, number>>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ioredis:close', listener: () => void): unknown;
  disconnect(): Promise<void>;
};

/** What is used of BullMQ's Worker. */
export type BullWorker = {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ioredis:close', listener: () => void): unknown;
  pause(doNotWaitActive?: boolean): Promise<void>;
  resume(): Promise<void>;
  close(force?: boolean): Promise<void>;
  disconnect(): Promise<void>;
};

/** What is used of BullMQ's Job. */
export type BullJob = {
  id?: string | undefined;
  data: Job['payload'];
  attemptsMade: number;
};

export type WorkerOptions = { concurrency: number; paused: boolean };

/** One server behind BullMQ. */
export type Wire = {
  /** Throws when the server does not answer, is too old, or takes nothing. */
  check(): Promise<void>;
  queue(name: string): BullQueue;
  worker(name: string, run: (job: BullJob) => Promise<void>, options: WorkerOptions): BullWorker;
  /** Ends what its queues and workers share, after each of them. */
  end(): void;
};

/** One connection to the queue's server, from its opening until something goes wrong with it. */
export type Session = {
  add(job: Job): Promise<'added' | 'known'>;
  work(name: string, concurrency: number): void;
  depth(names: readonly string[]): Promise<number>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Fetches nothing more, and lets what runs be reported as done. */
  finish(): Promise<void>;
  /** Cuts the connection; what runs goes on, and reports to nobody. */
  drop(): void;
  dropped: AbortSignal;
};

/** A server that answers no command for so long is taken for gone. */
const answerMs = 5000;

/**
 * What BullMQ says when a job is no longer this worker's: its lock ran out, or the server was emptied. It says nothing of
 * the connection, and the ledger's claims decide who sends.
 */
const jobTrouble = /missing (key|lock)|could not renew lock|not in the active state|stalled more than/i;

/** Begins to use a server that answered. `onTrouble` hears of the first thing that shows that it no longer does. */
export function openSession(
  wire: Wire,
  deps: {
    clock: Clock;
    retry: RetryPolicy;
    isPaused(): boolean;
    run(name: string, job: BullJob, dropped: AbortSignal): Promise<void>;
    onTrouble(error: Error): void;
  },
): Session {
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
            // Kept any longer, a finished job would keep its id from being added again.
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
    pause: async () => void (await Promise.all(workers.map((worker) => worker.pause(true)))),
    resume: async () => void (await Promise.all(workers.map((worker) => worker.resume()))),
    async finish() {
      finishing = true;
      await Promise.all(workers.map((worker) => worker.close()));
    },
    drop() {
      dropped.abort();
      // One that closes already waits for its jobs and cannot be hurried; its connections can.
      const ends = [
        ...workers.map((worker) => (finishing ? worker.disconnect() : worker.close(true))),
        ...[...queues.values()].map((queue) => queue.disconnect()),
      ];
      void Promise.allSettled(ends).then(wire.end);
    },
  };
}

/** Rejects when the work takes longer; what it ends with then is nobody's. */
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
