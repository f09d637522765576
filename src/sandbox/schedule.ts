/** Counts pending work; on `release`, all of it is forgotten. */
export function createPending() {
  let count = 0;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
  return {
    begin(): void {
      count += 1;
    },
    end(): void {
      count -= 1;
      if (count === 0) wake();
    },
    count: () => count,
    /** Resolves when nothing is pending, or after `release`. */
    async idle(): Promise<void> {
      if (count > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    release(): void {
      count = 0;
      wake();
    },
  };
}

/** Tasks that run later, each once; a task counts as pending until it has returned. */
export function createSchedule(pending: ReturnType<typeof createPending>) {
  const waiting = new Map<NodeJS.Timeout, () => void>();
  let stopped = false;
  return {
    after(ms: number, task: () => void): void {
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
    /** Runs every waiting task now, in the order in which they were added. */
    flush(): void {
      for (const [timer, run] of [...waiting]) {
        clearTimeout(timer);
        run();
      }
    },
    stop(): void {
      stopped = true;
      for (const timer of waiting.keys()) clearTimeout(timer);
      waiting.clear();
      pending.release();
    },
  };
}
