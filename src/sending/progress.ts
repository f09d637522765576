import type { Outcome } from '../domain/outcome.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Done, isClear } from './flight.ts';

/** Why the sender stopped. `drained`: nothing is left that it may send now. */
export type Stop = {
  ended: 'drained' | 'halted' | 'interrupted' | 'unreachable' | 'stuck';
  detail: string;
};

/**
 * A pause of all POSTs. `acceptedAt`: when the service last took a payout of this process. Both are on the monotonic clock:
 * setting the clock back must not turn a pause of a minute into hours.
 */
export type Pause = { until: number; acceptedAt: number };

/** What the answers of one run say about the service. */
export type Progress = {
  counts: Record<Outcome['kind'], number>;
  note(finished: readonly Done[]): void;
  /** How many intents may be open after these answers: on the wire, and waiting for a slot. */
  mostOpen(finished: readonly Done[]): number;
  /** Why this run must stop; `progressAt`: when something else than an answer last was progress. */
  verdict(underWay: number, progressAt: number): Stop | undefined;
};

const notSentLimit = 3;
const stuckMs = 60_000;
/**
 * A service that took a payout this recently is not tried with a single one first: chunks follow each other closely.
 */
const provenMs = 5000;

/** `ahead`: intents may wait for slots while others are on the wire. */
export function createProgress(
  { clock, pause }: { clock: Clock; pause: Pause },
  rules: { concurrency: number; sendDeadlineMs: number; ahead: boolean },
): Progress {
  const counts = { accepted: 0, refused: 0, not_sent: 0, turned_away: 0, unknown: 0 };
  let accepted = clock.monotonic() - pause.acceptedAt < provenMs;
  let notSentInARow = 0;
  let agedInARow = 0;
  let answeredAt = clock.monotonic();

  function noteOutcome(outcome: Outcome): void {
    if (outcome.kind === 'accepted') {
      accepted = true;
      pause.acceptedAt = clock.monotonic();
    } else if (outcome.kind !== 'refused') pause.acceptedAt = Number.NEGATIVE_INFINITY;
    if (outcome.kind === 'accepted' || outcome.kind === 'refused') answeredAt = clock.monotonic();
    notSentInARow = outcome.kind === 'not_sent' ? notSentInARow + 1 : 0;
    if (outcome.kind === 'turned_away') {
      pause.until = Math.max(pause.until, clock.monotonic() + (outcome.retryAfterMs ?? 1000));
    }
  }

  return {
    counts,
    note(finished) {
      for (const { outcome, aged } of finished) {
        counts[outcome.kind] += 1;
        if (!aged) noteOutcome(outcome);
      }
      // One standstill ages every intent of its turn, so it counts once.
      if (finished.length > 0) agedInARow = finished.every(({ aged }) => aged) ? agedInARow + 1 : 0;
    },
    mostOpen(finished) {
      if (!accepted) return 1;
      // No intent may age while it waits for its slot (P3): the service must answer all, and soon.
      const isPrompt = (one: Done): boolean => isClear(one) && one.tookMs < rules.sendDeadlineMs / 10;
      const ahead = rules.ahead && finished.length > 0 && finished.every(isPrompt);
      return ahead ? 2 * rules.concurrency : rules.concurrency;
    },
    verdict(underWay, progressAt) {
      if (notSentInARow >= notSentLimit) {
        return { ended: 'unreachable', detail: `${notSentLimit} requests in a row could not be sent` };
      }
      if (agedInARow >= notSentLimit) {
        const detail = `${notSentLimit} times in a row an intent grew older than submission.send_deadline_ms before it could be sent: this machine, its clock or its disk stands still`;
        return { ended: 'stuck', detail };
      }
      if (underWay === 0 && clock.monotonic() - Math.max(answeredAt, progressAt) > stuckMs) {
        return { ended: 'stuck', detail: 'no progress for 60 seconds' };
      }
      return undefined;
    },
  };
}
