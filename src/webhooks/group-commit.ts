import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../runtime/clock.ts';

export type GroupCommit<T> = {
  /** Resolves when the item is durable; rejects with what the commit threw. `full` answers at once. */
  add(item: T): Promise<'durable' | 'full'>;
  /** Resolves when nothing waits any more. */
  drained(): Promise<void>;
};

/** How long commits may follow upon each other without a pause, ms. */
const longestRowMs = 20;

/**
 * Lets items that arrive together share one commit, so that a burst costs few disk syncs. At most `maxWaiting` items
 * of `maxWaitingSize` together wait; every so often others get a millisecond to write.
 */
export function createGroupCommit<T>(deps: {
  clock: Clock;
  maxGroup: number;
  maxWaiting: number;
  maxWaitingSize: number;
  sizeOf(item: T): number;
  commit(items: T[]): Promise<void>;
}): GroupCommit<T> {
  let waiting: { item: T; settle: PromiseWithResolvers<'durable'> }[] = [];
  let waitingSize = 0;
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    let rested = deps.clock.monotonic();
    while (waiting.length > 0) {
      const group = waiting.slice(0, deps.maxGroup);
      waiting = waiting.slice(deps.maxGroup);
      try {
        await deps.commit(group.map((entry) => entry.item));
        for (const entry of group) entry.settle.resolve('durable');
      } catch (error) {
        for (const entry of group) entry.settle.reject(error);
      }
      for (const { item } of group) waitingSize -= deps.sizeOf(item);
      if (waiting.length === 0 || deps.clock.monotonic() - rested < longestRowMs) continue;
      await deps.clock.sleep(1);
      rested = deps.clock.monotonic();
    }
    // In the same turn as the last look at what waits: what comes later begins anew.
    running = undefined;
  };
  const start = async (): Promise<void> => {
    // One turn of the event loop, so that what was read in the same turn is in the group.
    await setImmediate();
    await run();
  };
  return {
    add(item) {
      const size = deps.sizeOf(item);
      // One item alone always fits, however large.
      const isFull = waitingSize > 0 && waitingSize + size > deps.maxWaitingSize;
      if (isFull || waiting.length >= deps.maxWaiting) return Promise.resolve('full');
      const settle = Promise.withResolvers<'durable'>();
      waiting.push({ item, settle });
      waitingSize += size;
      running ??= start();
      return settle.promise;
    },
    async drained() {
      while (running) await running;
    },
  };
}
