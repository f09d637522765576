import type { App } from '../app/app.ts';

/** How often a daemon looks for what people must know. */
const everyMs = 60_000;
/** A look takes at most this part of the time, however many payouts are unknown. */
const restFactor = 50;
/** Nor is it ever later than this: on a busy machine a cheap look takes seconds too. */
const longestRestMs = 120_000;

/** Tells people in the background what needs them, apart from all that sends money. */
export function createAlerting(
  { alerts, clock, log }: Pick<App, 'alerts' | 'clock' | 'log'>,
  deps: {
    stopping: AbortSignal;
    watched<T>(work: Promise<T>): Promise<T>;
    isQueueStuck(): Promise<boolean>;
  },
): () => Promise<void> {
  const { stopping, watched, isQueueStuck } = deps;
  const guarded = (work: () => Promise<void>): Promise<void> =>
    watched(work()).catch((error: unknown) => log.error({ err: error }, 'alerts could not be looked after'));

  /** Looks and sends until the daemon stops. A slow mail server delays the next look by its time-out at most. */
  return async () => {
    await guarded(alerts.forgetOthers);
    let wasStuck = false;
    while (alerts.isOn && !stopping.aborted) {
      const began = clock.monotonic();
      // A queue that was only started again is no alert: it must be stuck at two looks.
      const isStuck = await isQueueStuck();
      const viewer = { daemon: true, isQueueStuck: isStuck && wasStuck };
      wasStuck = isStuck;
      await guarded(() => alerts.look(viewer));
      const tookMs = clock.monotonic() - began;
      await guarded(() => alerts.deliver(stopping));
      const restMs = Math.min(Math.max(everyMs, tookMs * restFactor), longestRestMs);
      await clock.sleep(restMs, stopping);
    }
  };
}
