import type { Advice, AdvisedReason } from '../../core/domain/advice.ts';
import { restsOnPerson } from '../../core/domain/transition.ts';
import { contradicted, whyMaybePaid } from './doubts.ts';
import type { PayoutEvidence } from './evidence.sql.ts';
import { lookUpResultOf } from './look-up-result.ts';
import { isOutrun, type Since } from './sends.ts';
import { unconfirmed } from './unconfirmed.ts';

/** What may be done about a payout (P20): sent again as it is, paid again under a new reference, or neither and why. */
export type WhatMayBeDone = { kind: 'again' } | { kind: 'successor' } | ({ kind: 'no' } & AdvisedReason);

/**
 * Judges whether a person may order this payout to be sent again. `since` is when the look-up for this decision began,
 * ISO UTC: an older answer is no fresh witness. Null: nothing is decided yet, and the service is asked again before.
 */
export function judge(evidence: PayoutEvidence, since: Since): WhatMayBeDone {
  const { payout, attempts, predecessor, successor } = evidence;
  if (successor !== null)
    return no(`${successor} already pays it`, { kind: 'see_payout', reference: successor });
  if (payout.archived_seq !== null)
    return no(
      'it is archived, and an archived payout is never sent or paid again: write a new row with a new reference',
    );
  if (attempts.some(({ outcome }) => outcome === null))
    return no('an attempt is under way; wait for its answer');
  switch (payout.state) {
    case 'unknown':
      return unless(whyMaybePaid(evidence, since)) ?? { kind: 'again' };
    case 'refused':
    case 'returned':
      return unless(whyMaybePaid(evidence, since)) ?? { kind: 'successor' };
    case 'failed':
      return unless(whyMaybePaid(evidence, since) ?? unconfirmed(evidence, since)) ?? { kind: 'successor' };
    case 'held':
      return no('it is held', { kind: 'release', batch: payout.batch_id });
    case 'ready':
      return no('it is ready: it has not been sent, submit will send it once it may');
    case 'sending':
      return no('it is being sent right now');
    case 'pending':
      return no(lostAs('pending', evidence) ?? 'it is on its way: the service has it');
    case 'success':
      return no(
        restsOnPerson(payout.evidence)
          ? 'it is paid: a person has settled it so, the service has not confirmed it'
          : (lostAs('paid', evidence) ?? 'it is paid: the service shows it'),
      );
    case 'cancelled':
      return (
        unless(whyMaybePaid(evidence, since)) ??
        (predecessor === null
          ? no('it was cancelled; to pay it, put it under a new reference in a new file')
          : no(`it was cancelled before it was sent: paying ${predecessor} again is decided there`, {
              kind: 'ask_again',
              reference: predecessor,
            }))
      );
  }
}

/** True where the service is known to have it and every look-up showed it: nothing needs sending again. */
export function isHad(evidence: PayoutEvidence): boolean {
  const { state } = evidence.payout;
  if (state === 'success' && restsOnPerson(evidence.payout.evidence)) return true;
  return (state === 'pending' || state === 'success') && lost(evidence) === null;
}

function lostAs(what: string, evidence: PayoutEvidence): string | null {
  const why = lost(evidence);
  return (
    why &&
    `it is ${what} by what the service said before, but ${why}. Ask the service in writing; pay nothing again before it answers`
  );
}

/** Why the service may have lost what it took: it does not show it, or contradicts it. Null while nothing says so. */
function lost(evidence: PayoutEvidence): string | null {
  const { lookUp, discrepancies } = evidence;
  const missing = discrepancies.find(({ kind }) => kind === 'missing_at_service');
  if (missing) return `discrepancy ${missing.id} is open: its list lacks it, and its details did not find it`;
  const against = contradicted(evidence);
  if (against !== null) return against.why;
  if (!lookUp || isOutrun(evidence, lookUp.answeredAt) || lookUpResultOf(evidence) !== 'not_found')
    return null;
  return `the look-up of ${lookUp.answeredAt} did not find it`;
}

function unless(reason: AdvisedReason | null): WhatMayBeDone | null {
  return reason && { kind: 'no', ...reason };
}

function no(why: string, advice: Advice | null = null): WhatMayBeDone {
  return { kind: 'no', why, advice };
}
