import type { Clock } from '../runtime/clock.ts';
import { type Done, isClear } from './flight.ts';
import type { Limiter } from './permits.ts';

const notSentLimit = 3;
const stuckMs = 60_000;
/**
 * A service that took a payout this recently is not tried with a single one first: chunks follow each other closely.
 */
const provenMs = 5000;
/** So many groups of answers in a row must be clear before the next group of intents is committed ahead. */
const clearGroups = 4;
/** An answer counts as soon when it comes within this time of its intent, and within half of `send_deadline_ms`. */
const soonMs = 1000;

/**
 * A pause of all POSTs. `acceptedAt`: when the service last took a payout of this process. Both are on the monotonic clock:
 * setting the clock back must not turn a pause of a minute into hours.
 */
export type Pause = { until: number; acceptedAt: number };

export function noPause(): Pause {
  return { until: Number.NEGATIVE_INFINITY, acceptedAt: Number.NEGATIVE_INFINITY };
}

/** Why a run stops by itself. */
type Stop = { ended: 'unreachable' | 'stuck'; detail: string };

/** What the answers of a run say about how it goes on. */
export type Progress = {
  /** Takes the answers of a turn into account, and when the service was last asked something. */
  note(finished: readonly Done[], askedAt: number): void;
  verdict(open: number): Stop | undefined;
  /**
   * How many intents may be open at once, and how many answers make a turn worth its commit. Without a rate limit, and
   * while the service answers clearly and soon, the next group commits while the last is on the wire: twice the slots
   * (P1).
   */
  depth(): { most: number; enough: number };
};

type Deps = { clock: Clock; limiter: Limiter; rules: { concurrency: number; sendDeadlineMs: number } };

/** `pause` is kept over runs; the answers change it. */
export function createProgress({ clock, limiter, rules }: Deps, pause: Pause): Progress {
  const { concurrency } = rules;
  // An intent that waits is about as old as an answer takes when its request begins (P3).
  const soon = Math.min(soonMs, rules.sendDeadlineMs / 2);
  let isAccepted = clock.monotonic() - pause.acceptedAt < provenMs;
  let clearInARow = 0;
  let notSentInARow = 0;
  let agedInARow = 0;
  let progressAt = clock.monotonic();

  function noteOne({ outcome, tookMs }: Done): void {
    const isUsual = isClear(outcome);
    if (outcome.kind === 'accepted') {
      isAccepted = true;
      pause.acceptedAt = clock.monotonic();
    } else if (!isUsual) pause.acceptedAt = Number.NEGATIVE_INFINITY;
    if (isUsual) progressAt = clock.monotonic();
    clearInARow = isUsual && tookMs < soon ? clearInARow + 1 : 0;
    notSentInARow = outcome.kind === 'not_sent' ? notSentInARow + 1 : 0;
    if (outcome.kind === 'turned_away')
      pause.until = Math.max(pause.until, clock.monotonic() + (outcome.retryAfterMs ?? 1000));
  }

  return {
    note(finished, askedAt) {
      for (const done of finished) {
        if (done.tried) noteOne(done);
        else clearInARow = 0;
      }
      // One standstill ages every intent of its turn, so it counts once.
      if (finished.length > 0) agedInARow = finished.some(({ tried }) => tried) ? 0 : agedInARow + 1;
      progressAt = Math.max(progressAt, askedAt);
    },
    verdict(open) {
      if (notSentInARow >= notSentLimit)
        return { ended: 'unreachable', detail: `${notSentLimit} requests in a row could not be sent` };
      if (agedInARow >= notSentLimit) {
        const detail = `${notSentLimit} times in a row an intent grew older than submission.send_deadline_ms before it could be sent: this machine, its clock or its disk stands still`;
        return { ended: 'stuck', detail };
      }
      if (open === 0 && clock.monotonic() - progressAt > stuckMs)
        return { ended: 'stuck', detail: 'no progress for 60 seconds' };
      return undefined;
    },
    depth() {
      if (!isAccepted) return { most: 1, enough: 1 };
      const isLimited = Number.isFinite(limiter.atOnce);
      if (isLimited || clearInARow < clearGroups * concurrency)
        return { most: concurrency, enough: concurrency };
      // A quarter of the slots still wait for their answer while this turn commits.
      return { most: 2 * concurrency, enough: Math.ceil(1.75 * concurrency) };
    },
  };
}
