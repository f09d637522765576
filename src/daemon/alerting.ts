import type { App } from '../app/app.ts';

/** How often a daemon looks for what people must know. */
const everyMs = 60_000;
/** A look takes at most this part of the time, however many payouts are unknown. */
const restFactor = 50;

/** Tells people in the background what needs them, apart from all that sends money. */
export function createAlerting(
  { alerts, clock, log }: Pick<App, 'alerts' | 'clock' | 'log'>,
  { stopping, watched }: { stopping: AbortSignal; watched<T>(work: Promise<T>): Promise<T> },
): { keep(): Promise<void> } {
  const guarded = (work: () => Promise<void>): Promise<void> =>
    watched(work()).catch((error: unknown) => log.error({ err: error }, 'alerts could not be looked after'));

  /** Looks and sends until the daemon stops. A slow mail server delays the next look by its time-out at most. */
  return {
    async keep() {
      await guarded(alerts.forgetOthers);
      while (alerts.isOn && !stopping.aborted) {
        const began = clock.monotonic();
        await guarded(() => alerts.look({ daemon: true }));
        const tookMs = clock.monotonic() - began;
        await guarded(() => alerts.deliver(stopping));
        await clock.sleep(Math.max(everyMs, tookMs * restFactor), stopping);
      }
    },
  };
}
