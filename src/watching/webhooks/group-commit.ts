import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../core/runtime/clock.ts';

export type GroupCommit<T> = {
  /** Resolves when the item is durable; rejects with the commit's error. `full` is returned at once. */
  add(item: T): Promise<'durable' | 'full'>;
  /** Resolves when no item waits. */
  drained(): Promise<void>;
};

/** How long commits may follow each other without a pause, ms. */
const longestRowMs = 20;

/**
 * Lets items that arrive together share one commit, so that a burst costs few disk syncs. At most `maxWaiting` items of
 * `maxWaitingSize` in total wait. Between commits, other writers regularly get a millisecond.
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
    // In the same turn as the last check, so that a later item starts a new run.
    running = undefined;
  };
  const start = async (): Promise<void> => {
    // Wait one turn of the event loop, so that items read in the same turn join the group.
    await setImmediate();
    await run();
  };
  return {
    add(item) {
      const size = deps.sizeOf(item);
      // A single item always fits, however large.
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
