/** A job names its work by ids only; bank details never enter a queue. */
export type Job = {
  name: string;
  /** Unique while the job is queued or running. It has no `:` and is not all digits: BullMQ accepts neither. */
  id: string;
  payload: Record<string, string | number>;
  /** How long the job waits before it may start. */
  delayMs?: number;
};

export type JobHandler = (job: Job, signal: AbortSignal) => Promise<void>;

/**
 * Carries work from a decision in the ledger to a worker. A job is a hint that may be lost or repeated, never the
 * record. A handler that throws is retried with growing pauses, then reported.
 */
export type Queue = {
  /**
   * `known`: a job of this name and id is queued or running already. Throws on an id that some implementation cannot
   * hold, and {@link QueueAway} while the server of a shared queue is unreachable.
   */
  add(job: Job): Promise<'added' | 'known'>;
  /** Sets the handler of a name; jobs added earlier wait for it. */
  process(name: string, handler: JobHandler, options: { concurrency: number }): void;
  /** The number of jobs queued, delayed or running; in a shared queue those of every process. Throws {@link QueueAway}. */
  depth(): Promise<number>;
  /** True while somebody keeps the queue from handing out jobs. Throws {@link QueueAway}. */
  isPaused(): Promise<boolean>;
  /** Starts no further job in this process until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Starts no more jobs, aborts the handlers' signal and waits: `abandoned` when some outlast the deadline. */
  close(deadlineMs: number): Promise<'drained' | 'abandoned'>;
};

/** How often a failing job is tried, and the pause after the first failure (doubled after each). */
export type RetryPolicy = { attempts: number; backoffMs: number };

/** The queue's server does not answer, or not usefully. Nothing is lost: the ledger fills the queue again. */
export class QueueAway extends Error {}

/** Throws a TypeError for an id that some implementation cannot hold, so that all refuse the same ids. */
export function assertJobId(id: string): void {
  if (id === '' || id.includes(':') || /^\d+$/.test(id))
    throw new TypeError(`not a job id: ${JSON.stringify(id)}`);
}
