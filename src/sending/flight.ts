import type { Outcome } from '../domain/outcome.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Claim } from './claims.sql.ts';

/**
 * A finished request. `begun`: false where it was recalled before it had a slot. `aged`: the intent grew too old before
 * its bytes could leave (P3); the network is not to blame. `tookMs`: from the intent to the answer.
 */
export type Done = { claim: Claim; outcome: Outcome; begun: boolean; aged: boolean; tookMs: number };

/** An intent, and how to send it. */
export type Request = { claim: Claim; send(): Promise<Done> };

/** How long an answer that has come in waits for others to share its commit. */
const patienceMs = 4;

/** Requests on the wire, requests that wait for a slot, and answers that the loop has not taken yet. */
export type Flight = {
  underWay(): number;
  queued(): number;
  /**
   * Begins each request when a slot is free. An answer that may stop or pause sending closes all slots: the requests that
   * wait begin with the first launch after the loop has taken that answer.
   */
  launch(requests: readonly Request[]): void;
  /** Takes the answers that have come in, in their order. Throws what the client threw, which it never should. */
  take(): Done[];
  /** Ends the requests that have not begun: they were not sent. */
  recall(): Done[];
  waiting(): number;
  /**
   * Resolves when `enough` answers wait, when none is under way any more, or when the first has waited a moment. A commit
   * for several costs little more than for one. While it runs, the service works on the rest. `or` ends the wait too.
   */
  gathered(enough: number, or?: Promise<void>): Promise<void>;
  /** Begins nothing more and waits until nothing is under way. Takes the last answers, and what had not begun. */
  landed(): Promise<Done[]>;
};

/** The service took or refused the payout, so that others may follow at once. */
export function isClear({ outcome: { kind } }: Done): boolean {
  return kind === 'accepted' || kind === 'refused';
}

/** `slots`: how many requests are on the wire at a time. Once `signal` aborts, none begins. */
export function createFlight(clock: Clock, slots: number, signal?: AbortSignal): Flight {
  let underWay = 0;
  let queue: Request[] = [];
  let closed = false;
  let done: Done[] = [];
  let failure: { error: unknown } | undefined;
  let watch: { enough: number; wake: () => void } | undefined;

  const look = (): void => {
    if (watch && (failure || underWay === 0 || done.length >= watch.enough)) watch.wake();
  };
  const reached = (enough: number): Promise<void> =>
    new Promise((wake) => {
      watch = { enough, wake };
      look();
    });
  const begin = (): void => {
    while (!closed && !signal?.aborted && underWay < slots) {
      const next = queue.shift();
      if (!next) return;
      underWay++;
      void next.send().then(
        (one) => {
          done.push(one);
          landed(isClear(one));
        },
        (error: unknown) => {
          failure = { error };
          landed(false);
        },
      );
    }
  };
  const landed = (clear: boolean): void => {
    underWay--;
    closed ||= !clear;
    begin();
    look();
  };
  const taken = (): Done[] => {
    const all = done;
    done = [];
    return all;
  };
  const recall = (): Done[] => {
    const message = 'sending stopped before this was sent';
    const all = queue.map(({ claim }): Done => {
      return { claim, outcome: { kind: 'not_sent', message }, begun: false, aged: false, tookMs: 0 };
    });
    queue = [];
    return all;
  };
  return {
    underWay: () => underWay,
    queued: () => queue.length,
    waiting: () => done.length,
    launch(requests) {
      queue.push(...requests);
      closed = failure !== undefined || !done.every(isClear);
      begin();
    },
    take() {
      if (failure) throw failure.error;
      return taken();
    },
    recall,
    async gathered(enough, or) {
      const first = reached(1);
      await (or ? Promise.race([first, or]) : first);
      if (done.length === 0 || done.length >= enough || underWay === 0) return;
      const stop = new AbortController();
      await Promise.race([reached(enough), clock.sleep(patienceMs, stop.signal)]);
      // With a reason: without one the runtime would create an error, which costs more than the timer.
      stop.abort('gathered');
    },
    async landed() {
      closed = true;
      failure = undefined;
      if (underWay > 0) await reached(Number.POSITIVE_INFINITY);
      return [...taken(), ...recall()];
    },
  };
}
