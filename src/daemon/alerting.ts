import type { App } from '../app/app.ts';

/** How often a daemon looks for what people must know, where no commit recorded anything new. */
const everyMs = 60_000;
/** A look takes at most this part of the time, however many payouts are unknown. */
const restFactor = 50;
/** Nor is it ever later than this: on a busy machine a cheap look takes seconds too. */
const longestRestMs = 120_000;
/** How often a daemon asks whether a commit, of any process, recorded a cause of an alert. */
const peekMs = 1000;
/** A look for such a cause takes at most this part of the time, and never waits longer than this. */
const causeRestFactor = 20;
const longestCauseRestMs = 3000;

type Deps = {
  stopping: AbortSignal;
  watched<T>(work: Promise<T>): Promise<T>;
  isQueueStuck(): Promise<boolean>;
  service(): 'answers' | 'silent' | undefined;
};

/** Tells people in the background what needs them, and programs what happens, apart from all that sends money. */
export function createAlerting(
  { alerts, clock, eventPosts, log }: Pick<App, 'alerts' | 'clock' | 'eventPosts' | 'log'>,
  { stopping, watched, isQueueStuck, service }: Deps,
): () => Promise<void> {
  const failed = (error: unknown): void =>
    log.error({ err: error }, 'alerts and events could not be looked after');
  const guarded = (work: () => Promise<void>): Promise<void> => watched(work()).catch(failed);
  const causes = (): Promise<string | null> =>
    watched(alerts.causes()).catch((error: unknown) => {
      failed(error);
      return null;
    });

  /** Waits for the next look, and returns why it is due: a commit recorded a cause, or the time came. */
  async function rest(seen: string | null, tookMs: number): Promise<'cause' | 'time'> {
    const began = clock.monotonic();
    const restMs = Math.min(Math.max(everyMs, tookMs * restFactor), longestRestMs);
    const causeRestMs = Math.min(tookMs * causeRestFactor, longestCauseRestMs);
    while (!stopping.aborted) {
      const leftMs = began + restMs - clock.monotonic();
      if (leftMs <= 0) return 'time';
      await clock.sleep(Math.min(peekMs, leftMs), stopping);
      if (clock.monotonic() - began < causeRestMs) continue;
      const now = await causes();
      if (now !== null && now !== seen) return 'cause';
    }
    return 'time';
  }

  /** Posts events until the daemon stops: each soon after its commit, whichever process wrote it (P39). */
  async function post(): Promise<void> {
    await guarded(eventPosts.forget);
    while (eventPosts.isOn && !stopping.aborted) {
      await guarded(() => eventPosts.post(stopping));
      await clock.sleep(peekMs, stopping);
    }
  }

  /** Looks and sends until the daemon stops. A slow mail server delays the next look by its time-out at most. */
  async function alert(): Promise<void> {
    await guarded(alerts.forgetOthers);
    let why: 'cause' | 'time' = 'time';
    let [isStuck, wasStuck] = [false, false];
    while (alerts.isOn && !stopping.aborted) {
      // Before the look, which may miss what is recorded meanwhile.
      const seen = await causes();
      // A queue that was only started again is no alert: it must be stuck at two looks, a minute apart. To ask a queue
      // that is stuck takes seconds, for which a cause does not wait.
      if (why === 'time') [wasStuck, isStuck] = [isStuck, await isQueueStuck()];
      const viewer = { daemon: true, isQueueStuck: isStuck && wasStuck, service: service() };
      const lookedAt = clock.monotonic();
      await guarded(() => alerts.look(viewer));
      const tookMs = clock.monotonic() - lookedAt;
      await guarded(() => alerts.deliver(stopping));
      why = await rest(seen, tookMs);
    }
  }
  return async () => void (await Promise.all([alert(), post()]));
}
