import { restsOnPerson } from '../domain/transition.ts';
import { readStatus } from '../domain/witness.ts';
import type { Evidence } from '../ledger/evidence.ts';
import { isOutrun, possiblyTaken } from './sends.ts';
import { unconfirmed } from './unconfirmed.ts';

/** What may be done about a payout (P20): sent again as it is, paid again under a new reference, or neither and why. */
export type Judgement = { kind: 'again' } | { kind: 'successor' } | { kind: 'no'; why: string };

/** What a details look-up came to, in one word. */
export type Verdict =
  | 'none'
  | 'no_answer'
  | 'no_witness'
  | 'not_found'
  | 'conflict'
  | 'pending'
  | 'success'
  | 'failed'
  | 'returned';

/** The verdict of the last look-up, whenever it was; whatever is no clear word of the service is `no_answer`. */
export function verdictOf({ lookUp }: Pick<Evidence, 'lookUp'>): Verdict {
  if (!lookUp) return 'none';
  const { outcome, said } = lookUp;
  if (outcome.startsWith('conflict')) return 'conflict';
  if (outcome === 'not_found' || outcome === 'no_witness') return outcome;
  return outcome === 'found' ? (readStatus(said ?? '') ?? 'no_answer') : 'no_answer';
}

/**
 * Whether a person may order this payout to be sent again. `since` is when the look-up was begun that this decision
 * rests on, ISO UTC: an older answer is no fresh witness.
 */
export function judge(evidence: Evidence, since: string): Judgement {
  const { payout, attempts, successor } = evidence;
  if (successor !== null) return no(`${successor} already pays it; see counterfoil show ${successor}`);
  if (attempts.some(({ outcome }) => outcome === null))
    return no('an attempt is under way; wait for its answer');
  switch (payout.state) {
    case 'unknown':
      return judgeUnknown(evidence);
    case 'failed':
      return judgeFailed(evidence, since);
    case 'refused':
      return (
        contradicted(evidence) ??
        paidElsewhere(evidence) ??
        listedAs(evidence, ['pending', 'success', 'returned']) ?? { kind: 'successor' }
      );
    case 'returned':
      // Another send of it may have stayed where the first one came back from (P17).
      return (
        contradicted(evidence) ||
        paidElsewhere(evidence) ||
        (possiblyTaken(evidence) > 1 && listedAs(evidence, ['pending', 'success'])) || { kind: 'successor' }
      );
    case 'held':
    case 'ready':
      return no(`it is ${payout.state}: it has not been sent, submit will send it once it may`);
    case 'sending':
      return no('it is being sent right now');
    case 'pending':
      return no('it is on its way: the service has it');
    case 'success':
      return no(
        restsOnPerson(payout.evidence)
          ? "it is paid: a person's word says so, the service has not confirmed it"
          : 'it is paid: the service shows it',
      );
    case 'cancelled':
      return no('it was cancelled; drop it in a new batch under a new reference to pay it after all');
  }
}

function judgeUnknown(evidence: Evidence): Judgement {
  return (
    contradicted(evidence) ??
    paidElsewhere(evidence) ??
    listedAs(evidence, ['pending', 'success', 'returned']) ?? { kind: 'again' }
  );
}

/** What the lost copy of this ledger may have paid again under a new reference (P20, P25). */
function paidElsewhere({ payout, lookAlikes, adoptedAt }: Evidence): Judgement | undefined {
  if (adoptedAt === null || lookAlikes.length === 0) return undefined;
  const mend =
    payout.state === 'unknown'
      ? `counterfoil settle ${payout.reference}`
      : 'pay it under a new reference in a new file if it was not';
  return no(
    `the list shows ${lookAlikes.join(', ')}, which this ledger does not know, with the same account and amount: a lost copy of it may have paid it so. Find out, then ${mend}`,
  );
}

/** A transfer under our reference that is not ours in all it shows may be ours all the same (P15). */
function contradicted(evidence: Evidence): Judgement | undefined {
  if (verdictOf(evidence) !== 'conflict') return undefined;
  const told = evidence.lookUp?.outcome.replace(/^conflict:?\s*/, '') ?? '';
  return no(
    `the service shows a transfer under this reference that contradicts ours (${told}); ask the service`,
  );
}

/** P20: `failed` is paid again only on the service's word of now, or that of a complete listing made since. */
function judgeFailed(evidence: Evidence, since: string): Judgement {
  const { lookUp } = evidence;
  const alive = listedAs(evidence, ['success', 'returned']) ?? paidElsewhere(evidence);
  if (alive) return alive;
  const fresh = lookUp !== null && lookUp.askedAt >= since;
  const verdict = fresh ? verdictOf(evidence) : 'none';
  switch (verdict) {
    case 'pending':
    case 'success':
    case 'returned':
      return no(`the ledger says failed, but the service now says ${verdict}; run counterfoil reconcile`);
    case 'conflict':
      return no(`the service contradicts the ledger (${lookUp?.outcome.replace(/^conflict:?\s*/, '')})`);
    case 'failed':
      // Details show one transfer: after a resend they say nothing of the other (P17).
      if (possiblyTaken(evidence) <= 1) return { kind: 'successor' };
      break;
    case 'none':
    case 'no_answer':
    case 'no_witness':
    case 'not_found':
  }
  return listedFailed(evidence) ? { kind: 'successor' } : no(unconfirmed(evidence, fresh));
}

/** A complete listing made since, begun after the last send, that shows every send that may have been taken as failed. */
function listedFailed(evidence: Evidence): boolean {
  const { payout, listing } = evidence;
  if (!listing || payout.final_at === null || listing.finishedAt <= payout.final_at) return false;
  if (isOutrun(evidence, listing.startedAt)) return false;
  const { statuses } = listing;
  if (statuses.length < Math.max(1, possiblyTaken(evidence))) return false;
  return statuses.every((status) => readStatus(status) === 'failed');
}

/** A refusal when the newest complete listing, made since the payout came to its state, shows one of these statuses. */
function listedAs(
  { payout, attempts, listing }: Evidence,
  statuses: readonly string[],
): Judgement | undefined {
  const settled = payout.final_at ?? attempts.at(-1)?.ended_at ?? payout.updated_at;
  if (!listing || listing.finishedAt <= settled) return undefined;
  const shown = listing.statuses.find((status) => statuses.includes(readStatus(status) ?? 'pending'));
  if (shown === undefined) return undefined;
  return no(
    `the listing of run ${listing.run} shows a transfer of it as ${shown}; see counterfoil discrepancies`,
  );
}

function no(why: string): Judgement {
  return { kind: 'no', why };
}
