import type { Advice } from '../core/domain/advice.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { EndedIntent } from './flight.ts';
import type { HaltKind } from './halt.ts';

const notSentLimit = 3;
const stuckMs = 60_000;
/** The shortest pause after a rejection: a service that asks for none is not asked many times a second. */
const shortestPauseMs = 1000;
const longestPauseMs = 60_000;
/**
 * A service that took a payout this recently is not tried with a single one first: chunks follow each other closely.
 */
const provenMs = 5000;

/**
 * A pause of all POSTs that Counterfoil chooses by itself; the service may ask for a longer one. `acceptedAt`: when the
 * service last took a payout of this process. Both are on the monotonic clock: setting the clock back must not turn a
 * pause of a minute into hours. `inARow`: how many pauses the service has caused since it last gave another answer.
 */
export type PostPause = { until: number; acceptedAt: number; inARow: number };

export function noPause(): PostPause {
  return { until: Number.NEGATIVE_INFINITY, acceptedAt: Number.NEGATIVE_INFINITY, inARow: 0 };
}

/** Pauses all POSTs after a rejection, each time twice as long (P8). */
function prolong(pause: PostPause, now: number): void {
  // Requests that were under way together are turned away together, and count once.
  if (now >= pause.until) pause.inARow += 1;
  const ms = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.max(0, pause.inARow - 1));
  pause.until = Math.max(pause.until, now + ms);
}

/** Why a run of the sender stops, for `words/stop-words.ts`. `drained`: nothing is left that it may send now. */
export type StopCause =
  | { ended: 'drained' | 'interrupted' }
  | { ended: 'halted'; by: HaltKind[] }
  /** So many requests in a row could not be sent. */
  | { ended: 'unreachable'; tries: number }
  /** `holders`: the database sessions that hold locks: payouts that they have locked are skipped. */
  | { ended: 'stuck'; by: Standing; holders?: string; advice?: Advice };

type Standing =
  | { kind: 'aged'; times: number }
  | { kind: 'no_progress'; seconds: number }
  /** So many `of` those that need an answer of the service first (P31) got none; `names`: of the first. */
  | { kind: 'unanswered'; count: number; of: number; names: string[] };

/** What the answers of a run say about how it goes on. */
export type Progress = {
  /** Takes the answers of a turn into account, and when the service was last asked something. */
  note(finished: readonly EndedIntent[], askedAt: number): void;
  verdict(underWay: number): StopCause | undefined;
  /** How many requests may be under way at once. */
  slots(): number;
};

type Deps = { clock: Clock; rules: { concurrency: number } };

/** `pause` is kept over runs; the answers change it. */
export function createProgress({ clock, rules }: Deps, pause: PostPause): Progress {
  let isAccepted = clock.monotonic() - pause.acceptedAt < provenMs;
  let notSentInARow = 0;
  let agedInARow = 0;
  let progressAt = clock.monotonic();

  function noteOne({ outcome }: EndedIntent): void {
    const isUsual = outcome.kind === 'accepted' || outcome.kind === 'refused';
    if (outcome.kind === 'accepted') {
      isAccepted = true;
      pause.acceptedAt = clock.monotonic();
    } else if (!isUsual) pause.acceptedAt = Number.NEGATIVE_INFINITY;
    if (isUsual) progressAt = clock.monotonic();
    notSentInARow = outcome.kind === 'not_sent' ? notSentInARow + 1 : 0;
    if (outcome.kind === 'turned_away') prolong(pause, clock.monotonic());
    else if (outcome.kind !== 'not_sent' && outcome.httpStatus !== null) pause.inARow = 0;
  }

  return {
    note(finished, askedAt) {
      const tried = finished.filter(({ keptBack }) => keptBack === null);
      for (const done of tried) noteOne(done);
      // One standstill ages every intent of its turn, so it counts once.
      if (tried.length > 0) agedInARow = 0;
      else if (finished.some(({ keptBack }) => keptBack === 'aged')) agedInARow += 1;
      progressAt = Math.max(progressAt, askedAt);
    },
    verdict(underWay) {
      if (notSentInARow >= notSentLimit) return { ended: 'unreachable', tries: notSentLimit };
      if (agedInARow >= notSentLimit) return { ended: 'stuck', by: { kind: 'aged', times: notSentLimit } };
      if (underWay === 0 && clock.monotonic() - progressAt > stuckMs)
        return { ended: 'stuck', by: { kind: 'no_progress', seconds: stuckMs / 1000 } };
      return undefined;
    },
    slots: () => (isAccepted ? rules.concurrency : 1),
  };
}
