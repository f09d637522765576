/** Counts pending work; on `release`, all of it is forgotten. */
export type Pending = {
  begin(): void;
  end(): void;
  count(): number;
  /** Resolves when nothing is pending, or after `release`. */
  idle(): Promise<void>;
  release(): void;
};

/** Creates a counter without pending work. */
export function createPending(): Pending {
  let count = 0;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
  return {
    begin: () => {
      count += 1;
    },
    end: () => {
      count -= 1;
      if (count === 0) wake();
    },
    count: () => count,
    idle: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    release: () => {
      count = 0;
      wake();
    },
  };
}

/** Tasks that run later, each once; a task counts as pending until it has returned. */
export type Schedule = {
  after(ms: number, task: () => void): void;
  /** Runs every waiting task now, in the order in which they were added. */
  flush(): void;
  stop(): void;
};

/** A schedule that reports to the given counter. */
export function createSchedule(pending: Pending): Schedule {
  const waiting = new Map<NodeJS.Timeout, () => void>();
  let stopped = false;
  return {
    after(ms, task) {
      if (stopped) return;
      pending.begin();
      const run = (): void => {
        waiting.delete(timer);
        task();
        pending.end();
      };
      const timer = setTimeout(run, ms);
      waiting.set(timer, run);
    },
    flush() {
      for (const [timer, run] of [...waiting]) {
        clearTimeout(timer);
        run();
      }
    },
    stop() {
      stopped = true;
      for (const timer of waiting.keys()) clearTimeout(timer);
      waiting.clear();
      pending.release();
    },
  };
}
