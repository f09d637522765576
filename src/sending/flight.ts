import type { AttemptOutcome } from '../core/domain/outcome.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Claim } from './claims.sql.ts';

/** Why the request of a committed intent never began. Then neither the network nor the service is to blame. */
export type KeptBack = 'aged' | 'lost' | 'stopped';

/** The end of an intent. `keptBack` null: its request was tried. */
export type EndedIntent = { claim: Claim; outcome: AttemptOutcome; keptBack: KeptBack | null };

/** How long an answer that has come in waits for others to share its commit. */
const patienceMs = 4;

/** Requests under way, and the answers that have come in. */
export type Flight = {
  underWay(): number;
  launch(request: Promise<EndedIntent>): void;
  /**
   * False after `stop`, and while an answer that may stop sending is not written yet (P8, P11). Each request asks in the
   * tick in which it would be written.
   */
  mayBegin(): boolean;
  /** Takes the answers that have come in, in their order. Throws what the client threw, which it never should. */
  take(): EndedIntent[];
  /** The answers that were taken are committed. */
  written(): void;
  /** How many answers have come in since the last were taken. */
  answered(): number;
  /**
   * Resolves when `enough` answers have come in, when nothing is under way any more, or when the first has waited a moment.
   * A commit for several costs little more than for one. While it runs, the service works on the rest. `or` ends the wait
   * too.
   */
  gathered(enough: number, or?: Promise<void>): Promise<void>;
  /** No request begins any more. What is under way goes on. */
  stop(): void;
  /** Stops, waits until nothing is under way any more, and returns all answers that are not written. */
  landed(): Promise<EndedIntent[]>;
};

export function createFlight(clock: Clock): Flight {
  let underWay = 0;
  let unwritten: EndedIntent[] = [];
  let answers: EndedIntent[] = [];
  let isStopped = false;
  let failure: { error: unknown } | undefined;
  let watch: { enough: number; wake: () => void } | undefined;

  const look = (): void => {
    if (watch && (failure || underWay === 0 || answers.length >= watch.enough)) watch.wake();
  };
  const reached = (enough: number): Promise<void> =>
    new Promise((wake) => {
      watch = { enough, wake };
      look();
    });
  const takeAll = (): EndedIntent[] => {
    const taken = answers;
    answers = [];
    unwritten.push(...taken);
    return taken;
  };
  return {
    underWay: () => underWay,
    answered: () => answers.length,
    launch(request) {
      underWay++;
      void request.then(
        (one) => {
          underWay--;
          answers.push(one);
          look();
        },
        (error: unknown) => {
          underWay--;
          failure = { error };
          look();
        },
      );
    },
    mayBegin: () => !isStopped && !failure && !unwritten.some(mayStop) && !answers.some(mayStop),
    take() {
      if (failure) throw failure.error;
      return takeAll();
    },
    written() {
      unwritten = [];
    },
    async gathered(enough, or) {
      const first = reached(1);
      await (or ? Promise.race([first, or]) : first);
      if (answers.length === 0 || answers.length >= enough || underWay === 0) return;
      const stop = new AbortController();
      await Promise.race([reached(enough), clock.sleep(patienceMs, stop.signal)]);
      // With a reason: without one the runtime would create an error, which costs more than the timer.
      stop.abort('gathered');
    },
    stop() {
      isStopped = true;
    },
    async landed() {
      isStopped = true;
      failure = undefined;
      if (underWay > 0) await reached(Number.POSITIVE_INFINITY);
      takeAll();
      return unwritten;
    },
  };
}

/** True for an answer after which a halt or a pause may follow (P8, P11). */
function mayStop({ outcome }: EndedIntent): boolean {
  return outcome.kind === 'unknown' || outcome.kind === 'turned_away';
}
