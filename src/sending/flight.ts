import type { Outcome } from '../domain/outcome.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Claim } from './claims.sql.ts';

/**
 * A finished request. `aged`: the intent grew too old before its bytes could leave (P3); the network is not to blame.
 */
export type Done = { claim: Claim; outcome: Outcome; aged: boolean };

/** How long an answer that has come in waits for others to share its commit. */
const patienceMs = 4;

/** Requests under way, and answers that the loop has not taken yet. */
export type Flight = {
  underWay(): number;
  launch(sent: Promise<Done>): void;
  /** Takes the answers that have come in, in their order. Throws what the client threw, which it never should. */
  take(): Done[];
  waiting(): number;
  /**
   * Resolves when `enough` answers wait, when none is under way any more, or when the first has waited a moment. A commit
   * for several costs little more than for one. While it runs, the service works on the rest. `or` ends the wait too.
   */
  gathered(enough: number, or?: Promise<void>): Promise<void>;
  /** Waits until nothing is under way any more, and takes the last answers. */
  landed(): Promise<Done[]>;
};

export function createFlight(clock: Clock): Flight {
  let underWay = 0;
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
  const taken = (): Done[] => {
    const all = done;
    done = [];
    return all;
  };
  return {
    underWay: () => underWay,
    waiting: () => done.length,
    launch(sent) {
      underWay++;
      const landed = (): void => {
        underWay--;
        look();
      };
      void sent.then(
        (one) => {
          done.push(one);
          landed();
        },
        (error: unknown) => {
          failure = { error };
          landed();
        },
      );
    },
    take() {
      if (failure) throw failure.error;
      return taken();
    },
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
      failure = undefined;
      if (underWay > 0) await reached(Number.POSITIVE_INFINITY);
      return taken();
    },
  };
}
