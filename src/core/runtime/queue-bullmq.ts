import type { Clock } from './clock.ts';
import { assertJobId, type Job, type JobHandler, type Queue, QueueAway, type RetryPolicy } from './queue.ts';
import { type BullJob, openQueueSession, type QueueSession, type Wire, within } from './queue-session.ts';

type Lane = { handler: JobHandler; concurrency: number; running: number };

/** The pause between two attempts to reach the server, growing from `first` to `most`. */
const pausesMs = { first: 500, most: 5000 };
/** A connection that lasts this long counts as restored. */
const steadyMs = 1000;
/** How long the first `add` waits for the first connection, and how long opening one may take. */
const openMs = 5000;
/** How long closing waits for the server to record finished jobs. */
const reportMs = 2000;

/**
 * The queue that processes share, over BullMQ. The server may be unreachable, restarted or emptied at any time. Then
 * `add` throws QueueAway, running jobs continue, and the queue reconnects. `onAway` and `onBack` are called once for
 * each change.
 */
export function createBullQueue(deps: {
  /** Loads the driver; called for each connection attempt. */
  wire(): Promise<Wire>;
  clock: Clock;
  retry: RetryPolicy;
  onFailed(job: Job, error: unknown): void;
  onAway(why: string): void;
  onBack(): void;
}): Queue {
  const { clock, retry } = deps;
  const lanes = new Map<string, Lane>();
  const names = new Set<string>();
  const closing = new AbortController();
  const changed = new Set<() => void>();
  const firstTry = Promise.withResolvers<void>();
  let session: QueueSession | undefined;
  let paused = false;
  let away = false;

  const running = (): number => [...lanes.values()].reduce((sum, lane) => sum + lane.running, 0);
  const change = (): void => {
    for (const wake of [...changed]) wake();
  };
  const nextChange = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        changed.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      if (signal.aborted) return resolve();
      changed.add(done);
      signal.addEventListener('abort', done);
    });
  /** Takes a slot of the lane, so that jobs of a lost connection count until they end. */
  const slot = async (lane: Lane, dropped: AbortSignal): Promise<void> => {
    while (paused || lane.running >= lane.concurrency) {
      await nextChange(dropped);
      if (dropped.aborted || closing.signal.aborted) throw new Error('the queue withdrew the job');
    }
    lane.running++;
  };
  const run = async (name: string, given: BullJob, dropped: AbortSignal): Promise<void> => {
    const lane = lanes.get(name);
    if (!lane || closing.signal.aborted) throw new Error('the queue is closed');
    const job = { name, id: given.id ?? '', payload: given.data };
    await slot(lane, dropped);
    try {
      await lane.handler(job, closing.signal);
    } catch (error) {
      if (given.attemptsMade + 1 >= retry.attempts || closing.signal.aborted) deps.onFailed(job, error);
      throw error;
    } finally {
      lane.running--;
      change();
    }
  };
  const reportAway = (error: unknown): void => {
    if (away || closing.signal.aborted) return;
    away = true;
    deps.onAway(error instanceof Error ? reasonOf(error) : String(error));
  };
  const reportBack = async (mine: QueueSession): Promise<void> => {
    await clock.sleep(steadyMs, mine.dropped);
    if (mine.dropped.aborted || !away) return;
    away = false;
    deps.onBack();
  };
  /** Holds one connection from opening to end; returns what ended it. */
  const hold = async (): Promise<unknown> => {
    const broken = Promise.withResolvers<unknown>();
    const wire = await deps.wire();
    await within(clock, openMs, wire.check());
    if (closing.signal.aborted) return undefined;
    const mine = openQueueSession(wire, {
      clock,
      retry,
      isPaused: () => paused,
      run,
      onTrouble: broken.resolve,
    });
    session = mine;
    for (const [name, { concurrency }] of lanes) mine.work(name, concurrency);
    firstTry.resolve();
    void reportBack(mine);
    closing.signal.addEventListener('abort', () => broken.resolve(undefined), { once: true });
    return broken.promise;
  };
  const keepConnected = async (): Promise<void> => {
    for (let pauseMs = pausesMs.first; !closing.signal.aborted; ) {
      const began = clock.monotonic();
      const why = await hold().catch((error: unknown) => error);
      firstTry.resolve();
      if (closing.signal.aborted) return;
      session?.drop();
      session = undefined;
      change();
      reportAway(why);
      if (clock.monotonic() - began > pausesMs.most + openMs) pauseMs = pausesMs.first;
      await clock.sleep(pauseMs, closing.signal);
      pauseMs = Math.min(pauseMs * 2, pausesMs.most);
    }
  };
  void keepConnected();

  const current = async (): Promise<QueueSession> => {
    if (closing.signal.aborted) throw new Error('the queue is closed');
    if (!session) await within(clock, openMs, firstTry.promise).catch(() => undefined);
    if (!session) throw new QueueAway('the queue cannot be reached');
    return session;
  };
  const asking = async <T>(ask: (at: QueueSession) => Promise<T>): Promise<T> => {
    const at = await current();
    return ask(at).catch((error: unknown) => {
      throw new QueueAway(error instanceof Error ? error.message : String(error), { cause: error });
    });
  };
  return {
    async add(job) {
      assertJobId(job.id);
      names.add(job.name);
      return asking((at) => at.add(job));
    },
    process(name, handler, { concurrency }) {
      names.add(name);
      lanes.set(name, { handler, concurrency, running: 0 });
      session?.work(name, concurrency);
    },
    depth: () => asking((at) => at.depth([...names])),
    isPaused: async () => paused || asking((at) => at.isPaused([...names])),
    async pause() {
      paused = true;
      await session?.pause();
    },
    async resume() {
      paused = false;
      change();
      await session?.resume();
    },
    async close(deadlineMs) {
      closing.abort();
      change();
      const finished = session?.finish().catch(() => undefined);
      const deadline = new AbortController();
      const late = clock.sleep(deadlineMs, deadline.signal).then(() => deadline.abort());
      while (running() > 0 && !deadline.signal.aborted) await nextChange(deadline.signal);
      const drained = running() === 0;
      deadline.abort();
      await late;
      // Nothing depends on it: a job whose end is not recorded is handed out again, and finds nothing left to do.
      if (finished && drained) await within(clock, reportMs, finished).catch(() => undefined);
      session?.drop();
      return drained ? 'drained' : 'abandoned';
    },
  };
}

/** A connection refused by several addresses gives its reasons only in the inner errors. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((one) => (one instanceof Error ? one.message : String(one))).join('; ');
  return error.message;
}
