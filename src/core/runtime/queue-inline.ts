import type { Clock } from './clock.ts';
import { assertJobId, type Job, type JobHandler, type Queue, type RetryPolicy } from './queue.ts';

type Lane = { handler: JobHandler | undefined; concurrency: number; ready: Job[]; running: number };

/**
 * The queue inside this process, for one machine. It keeps nothing over a restart: the ledger fills it again.
 * `onFailed` receives each job whose last attempt failed.
 */
export function createInlineQueue(deps: {
  clock: Clock;
  retry: RetryPolicy;
  onFailed(job: Job, error: unknown): void;
}): Queue {
  const { clock, retry } = deps;
  const lanes = new Map<string, Lane>();
  const alive = new Set<string>();
  const closing = new AbortController();
  const idle = new Set<() => void>();
  let paused = false;

  const laneOf = (name: string): Lane => {
    const lane = lanes.get(name) ?? { handler: undefined, concurrency: 1, ready: [], running: 0 };
    lanes.set(name, lane);
    return lane;
  };
  const running = (): number => [...lanes.values()].reduce((sum, lane) => sum + lane.running, 0);
  const pump = (lane: Lane): void => {
    while (!paused && !closing.signal.aborted && lane.handler && lane.running < lane.concurrency) {
      const job = lane.ready.shift();
      if (!job) return;
      void run(lane, lane.handler, job);
    }
  };
  const run = async (lane: Lane, handler: JobHandler, job: Job): Promise<void> => {
    lane.running++;
    const outcome = await attempt(handler, job);
    lane.running--;
    alive.delete(keyOf(job));
    if (outcome.kind === 'failed') deps.onFailed(job, outcome.error);
    pump(lane);
    if (running() === 0) for (const wake of idle) wake();
  };
  const attempt = async (
    handler: JobHandler,
    job: Job,
  ): Promise<{ kind: 'done' } | { kind: 'failed'; error: unknown }> => {
    for (let tries = 1; ; tries++) {
      try {
        // Defer even a handler that throws synchronously, so that `add` never runs work itself.
        await Promise.resolve().then(() => handler(job, closing.signal));
        return { kind: 'done' };
      } catch (error) {
        if (tries >= retry.attempts || closing.signal.aborted) return { kind: 'failed', error };
        await clock.sleep(retry.backoffMs * 2 ** (tries - 1), closing.signal);
        if (closing.signal.aborted) return { kind: 'failed', error };
      }
    }
  };
  const enqueue = async (job: Job): Promise<void> => {
    if (job.delayMs) await clock.sleep(job.delayMs, closing.signal);
    const lane = laneOf(job.name);
    lane.ready.push(job);
    pump(lane);
  };
  return {
    async add(job) {
      assertJobId(job.id);
      if (closing.signal.aborted) throw new Error('the queue is closed');
      if (alive.has(keyOf(job))) return 'known';
      alive.add(keyOf(job));
      void enqueue(job);
      return 'added';
    },
    process(name, handler, options) {
      const lane = laneOf(name);
      lane.handler = handler;
      lane.concurrency = options.concurrency;
      pump(lane);
    },
    depth: async () => alive.size,
    isPaused: async () => paused,
    async pause() {
      paused = true;
    },
    async resume() {
      paused = false;
      for (const lane of lanes.values()) pump(lane);
    },
    async close(deadlineMs) {
      closing.abort();
      if (running() === 0) return 'drained';
      const deadline = new AbortController();
      const drained = new Promise<void>((resolve) => idle.add(resolve));
      await Promise.race([drained, clock.sleep(deadlineMs, deadline.signal)]);
      deadline.abort();
      return running() === 0 ? 'drained' : 'abandoned';
    },
  };
}

function keyOf(job: Job): string {
  return `${job.name} ${job.id}`;
}
