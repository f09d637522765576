import type { Clock } from './clock.ts';

export type GroupCommit<T> = {
  /** Resolves when the item is durable; rejects with what the commit threw. `full` answers at once. */
  add(item: T): Promise<'durable' | 'full'>;
  /** Resolves when nothing waits any more. */
  drained(): Promise<void>;
};

/**
 * Lets items that arrive together share one commit, so that a burst costs few disk syncs. At most `maxWaiting` items
 * wait; between two commits other processes get a millisecond to write.
 */
export function createGroupCommit<T>(deps: {
  clock: Clock;
  maxGroup: number;
  maxWaiting: number;
  commit(items: T[]): Promise<void>;
}): GroupCommit<T> {
  let waiting: { item: T; settle: PromiseWithResolvers<'durable'> }[] = [];
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = waiting.slice(0, deps.maxGroup);
      waiting = waiting.slice(deps.maxGroup);
      try {
        await deps.commit(group.map((entry) => entry.item));
        for (const entry of group) entry.settle.resolve('durable');
      } catch (error) {
        for (const entry of group) entry.settle.reject(error);
      }
      if (waiting.length > 0) await deps.clock.sleep(1);
    }
  };
  const start = async (): Promise<void> => {
    // One turn of the event loop, so that what was read in the same turn is in the group.
    await new Promise((resolve) => setImmediate(resolve));
    await run();
    running = undefined;
  };
  return {
    add(item) {
      if (waiting.length >= deps.maxWaiting) return Promise.resolve('full');
      const settle = Promise.withResolvers<'durable'>();
      waiting.push({ item, settle });
      running ??= start();
      return settle.promise;
    },
    async drained() {
      while (running) await running;
    },
  };
}
