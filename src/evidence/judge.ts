import { contradictionText } from '../domain/contradiction.ts';
import type { PayoutState } from '../domain/payout.ts';
import { restsOnPerson } from '../domain/transition.ts';
import { readStatus } from '../domain/witness.ts';
import { contradicted, disputed, heardAgainst, revived, sentElsewhere } from './doubts.ts';
import type { Evidence } from './evidence.sql.ts';
import { listedAs, severalListed } from './listed-as.ts';
import { verdictOf } from './look-up-verdict.ts';
import { isAskedSince, isOutrun, possiblyTaken } from './sends.ts';
import { unconfirmed } from './unconfirmed.ts';

/** What may be done about a payout (P20): sent again as it is, paid again under a new reference, or neither and why. */
export type Judgement = { kind: 'again' } | { kind: 'successor' } | { kind: 'no'; why: string };

const decidable: readonly PayoutState[] = ['unknown', 'failed', 'refused', 'returned'];

/**
 * Whether a person may order this payout to be sent again. `since` is when the look-up was begun that this decision
 * rests on, ISO UTC: an older answer is no fresh witness.
 */
export function judge(evidence: Evidence, since: string): Judgement {
  const { payout, attempts, successor } = evidence;
  if (successor !== null) return no(`${successor} already pays it; see counterfoil show ${successor}`);
  if (attempts.some(({ outcome }) => outcome === null))
    return no('an attempt is under way; wait for its answer');
  const elsewhere = decidable.includes(payout.state) ? sentElsewhere(evidence, since) : null;
  if (elsewhere !== null) return no(elsewhere);
  switch (payout.state) {
    case 'unknown':
      return judgeUnknown(evidence);
    case 'failed':
      return judgeFailed(evidence, since);
    case 'refused':
      return (
        refusal(
          contradicted(evidence),
          paidElsewhere(evidence),
          listedAs(evidence, ['pending', 'success', 'returned']),
          disputed(evidence),
          heardAgainst(evidence),
        ) ?? { kind: 'successor' }
      );
    case 'returned':
      // Another transfer of it may have stayed where the first one came back from (P17).
      return (
        refusal(
          contradicted(evidence),
          paidElsewhere(evidence),
          possiblyTaken(evidence) > 1 || severalListed(evidence)
            ? listedAs(evidence, ['pending', 'success'])
            : null,
          disputed(evidence),
          heardAgainst(evidence),
        ) ?? { kind: 'successor' }
      );
    case 'held':
      return no(`it is held: counterfoil release ${payout.batch_id} sends it, or says what keeps it`);
    case 'ready':
      return no('it is ready: it has not been sent, submit will send it once it may');
    case 'sending':
      return no('it is being sent right now');
    case 'pending':
      return no(lostAs('pending', evidence) ?? 'it is on its way: the service has it');
    case 'success':
      return no(
        restsOnPerson(payout.evidence)
          ? "it is paid: a person's word says so, the service has not confirmed it"
          : (lostAs('paid', evidence) ?? 'it is paid: the service shows it'),
      );
    case 'cancelled':
      return no('it was cancelled; drop it in a new batch under a new reference to pay it after all');
  }
}

/** True for what the service is known to have, and shows as far as anybody looked: nothing needs sending again. */
export function isHad(evidence: Evidence): boolean {
  const { state } = evidence.payout;
  if (state === 'success' && restsOnPerson(evidence.payout.evidence)) return true;
  return (state === 'pending' || state === 'success') && lost(evidence) === null;
}

function lostAs(what: string, evidence: Evidence): string | null {
  const why = lost(evidence);
  return (
    why &&
    `it is ${what} by what the service said before, but ${why}. Ask the service in writing; pay nothing again before it answers`
  );
}

/** What says that the service does not show, or contradicts, what it took; null while nothing does. */
function lost(evidence: Evidence): string | null {
  const { lookUp, discrepancies } = evidence;
  const missing = discrepancies.find(({ kind }) => kind === 'missing_at_service');
  if (missing) return `discrepancy ${missing.id} is open: its list lacks it, and its details did not find it`;
  const against = contradicted(evidence);
  if (against !== null) return against;
  if (!lookUp || isOutrun(evidence, lookUp.answeredAt) || verdictOf(evidence) !== 'not_found') return null;
  return `the look-up of ${lookUp.answeredAt} did not find it`;
}

function judgeUnknown(evidence: Evidence): Judgement {
  return (
    refusal(
      contradicted(evidence),
      paidElsewhere(evidence),
      listedAs(evidence, ['pending', 'success', 'returned']),
      disputed(evidence),
      heardAgainst(evidence),
    ) ?? { kind: 'again' }
  );
}

/** The first of these reasons against it; null when there is none. */
function refusal(...reasons: (string | null)[]): Judgement | null {
  const why = reasons.find((reason) => reason !== null);
  return why === undefined ? null : no(why);
}

/** What the lost copy of this ledger may have paid again under a new reference (P20, P25). */
function paidElsewhere({ payout, lookAlikes, listing, adoptedAt }: Evidence): string | null {
  if (adoptedAt === null) return null;
  // Before that nobody has looked for what the lost copy paid.
  if (!listing || listing.startedAt <= adoptedAt)
    return `this ledger went back in time at ${adoptedAt}, and no complete listing has been read since: a lost copy of it may have paid it. Run counterfoil reconcile --full`;
  if (lookAlikes.length === 0) return null;
  const mend =
    payout.state === 'unknown'
      ? `counterfoil settle ${payout.reference}`
      : 'pay it under a new reference in a new file if it was not';
  return `the list shows ${lookAlikes.join(', ')}, which this ledger does not know, with the same account and amount or the name of a second payment of it: a lost copy of it may have paid it so. Find out, then ${mend}`;
}

/** P20: `failed` is paid again only on the service's word of now, or that of a complete listing made since. */
function judgeFailed(evidence: Evidence, since: string): Judgement {
  const { lookUp } = evidence;
  const alive = refusal(listedAs(evidence, ['success', 'returned']), paidElsewhere(evidence));
  if (alive) return alive;
  const fresh = lookUp !== null && isAskedSince(lookUp.askedAt, since);
  const verdict = fresh ? verdictOf(evidence) : 'none';
  switch (verdict) {
    case 'pending':
    case 'success':
    case 'returned':
      return no(`the ledger says failed, but the service now says ${verdict}; run counterfoil reconcile`);
    case 'conflict':
      return no(
        `the service contradicts the ledger (${evidence.contradiction ? contradictionText(evidence.contradiction) : ''})`,
      );
    case 'failed':
    case 'none':
    case 'no_answer':
    case 'no_witness':
    case 'not_found':
  }
  // What was said since its last clear word, whatever silence has followed.
  const doubt = refusal(
    contradicted(evidence),
    revived(evidence),
    disputed(evidence),
    heardAgainst(evidence),
  );
  if (doubt) return doubt;
  // Details show one transfer: after a resend they say nothing of the other (P17).
  const isFailed = verdict === 'failed' && possiblyTaken(evidence) <= 1;
  return isFailed || listedFailed(evidence) ? { kind: 'successor' } : no(unconfirmed(evidence, fresh));
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

function no(why: string): Judgement {
  return { kind: 'no', why };
}
