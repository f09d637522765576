/** A job names what is to be done by ids only; bank details never enter a queue. */
export type Job = {
  name: string;
  /** Unique while the job is queued or running. No `:`, not all digits: BullMQ accepts neither. */
  id: string;
  payload: Record<string, string | number>;
  /** Wait this long before the job may start. */
  delayMs?: number;
};

export type JobHandler = (job: Job, signal: AbortSignal) => Promise<void>;

/**
 * The courier between a decision in the ledger and the work: a hint that may be lost or repeated, never the record
 * (design.md, promise 3). A handler that throws is tried again with growing pauses, then reported.
 */
export type Queue = {
  /**
   * `known`: a job of this name and id is queued or running already. Throws on an id no implementation could hold, and
   * {@link QueueAway} while the server of a shared queue cannot be reached.
   */
  add(job: Job): Promise<'added' | 'known'>;
  /** Sets the handler of a name; jobs added before wait for it. */
  process(name: string, handler: JobHandler, options: { concurrency: number }): void;
  /** Jobs queued, delayed or running; in a shared queue those of every process. Throws {@link QueueAway}. */
  depth(): Promise<number>;
  /** Starts no further job in this process until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Starts nothing more, aborts the handlers' signal, and waits for them: `abandoned` when some outlast the deadline. */
  close(deadlineMs: number): Promise<'drained' | 'abandoned'>;
};

/** How often a failing job is tried, and how long it rests after the first failure (doubled after each). */
export type RetryPolicy = { attempts: number; backoffMs: number };

/** The queue's server gives no answer, or none that helps. Nothing is lost: the ledger fills the queue again. */
export class QueueAway extends Error {}

/** Throws a TypeError for an id that some implementation could not hold, so that all refuse the same ids. */
export function assertJobId(id: string): void {
  if (id === '' || id.includes(':') || /^\d+$/.test(id))
    throw new TypeError(`not a job id: ${JSON.stringify(id)}`);
}
