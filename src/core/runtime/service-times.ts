/** How long the service and our own rate limit took, for monitors. */
export type ServiceTimes = {
  onRequest(time: { operation: string; result: string; seconds: number }): void;
  onRateWait(seconds: number): void;
};

/** Passes times to its watchers. A one-shot command has none. */
export function createServiceTimes(): ServiceTimes & { watch(watcher: ServiceTimes): void } {
  const watchers: ServiceTimes[] = [];
  return {
    onRequest: (time) => {
      for (const one of watchers) one.onRequest(time);
    },
    onRateWait: (seconds) => {
      for (const one of watchers) one.onRateWait(seconds);
    },
    watch: (watcher) => void watchers.push(watcher),
  };
}
