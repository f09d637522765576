import { restsOn } from '../../../src/core/domain/payout.ts';
import { type Effect, isFinalByEvidence, restsOnPerson } from '../../../src/core/domain/transition.ts';
import {
  type Act,
  applied,
  isOver,
  isTaken,
  isUnderWay,
  type Payout,
  takenPerhaps,
  together,
  type Worlds,
  witness,
} from './payout-model.ts';

export type Step = { before: Payout; act: Act; effect: Effect; after: Payout };

const waiting = ['ready', 'held'];
const ended = ['failed', 'returned'];

/** What must hold of each step, by the rule that asks for it, whatever is true at the service. */
const ofSteps: Record<string, (step: Step, worlds: Worlds) => boolean> = {
  'P1: an intent goes only from ready, and no second one beside it': ({ before, act, after }) =>
    act.event.kind !== 'intent' ||
    (before.state === 'ready' ? after.state === 'sending' : after.sent.length === before.sent.length),
  'P1: what is sending has one attempt under way': ({ after }) =>
    (after.state !== 'sending' || isUnderWay(after)) &&
    after.sent.filter(({ outcome }) => outcome === null).length <= 1,
  'P4: refused or cancelled only when every attempt is proven not taken': ({ after }) =>
    !['refused', 'cancelled'].includes(after.state) || takenPerhaps(after) === 0,
  'P4: ready again only when every attempt is proven not taken, or by an order': ({ after }) =>
    !waiting.includes(after.state) || takenPerhaps(after) === 0 || after.ordered,
  'P4: while another attempt is under way only an acceptance moves it': ({ before, act, after }) =>
    act.event.kind !== 'outcome' ||
    act.event.outcome.kind === 'accepted' ||
    !isUnderWay(after) ||
    before.state === after.state,
  'P4: no answer takes back what evidence ended': ({ before, act, after }) =>
    !['outcome', 'abandoned'].includes(act.event.kind) ||
    !isFinalByEvidence(before) ||
    before.state === after.state,
  'P14: nothing ends without details, list or a person': ({ before, act: { event }, after }) => {
    if (before.state === after.state || !['success', ...ended].includes(after.state)) return true;
    if (event.kind === 'settle') return restsOn(after.evidence, 'person');
    if (event.kind === 'turned') return event.sure && after.evidence === 'listing+details';
    return (
      event.kind === 'witness' && event.witness.source !== 'webhook' && event.witness.status === after.state
    );
  },
  'P14: what evidence ended, evidence does not move, but for a return': ({ before, act: { event }, after }) =>
    event.kind !== 'witness' ||
    !isFinalByEvidence(before) ||
    before.state === after.state ||
    before.state === 'refused' ||
    (before.state === 'success' && after.state === 'returned'),
  'P14: two final witnesses that disagree are told': ({ before, act: { event }, effect }) => {
    if (event.kind !== 'witness' || !isFinalByEvidence(before)) return true;
    const { status, source } = event.witness;
    const isAgainst =
      (before.state === 'success' && status === 'failed') ||
      (before.state === 'failed' && ['success', 'returned'].includes(status)) ||
      (before.state === 'returned' &&
        status === 'success' &&
        event.askedIn === 'returned' &&
        source !== 'webhook') ||
      before.state === 'cancelled';
    return !isAgainst || effect.kind === 'conflict';
  },
  'P14: the same words twice are the words once': ({ act, after }, { forgetful }) => {
    if (!['witness', 'outcome', 'abandoned', 'looked_up'].includes(act.event.kind)) return true;
    return (applied(after, act, forgetful)?.after.state ?? after.state) === after.state;
  },
  'P15: what was never sent takes no transfer for its own': ({ before, act, after }) =>
    act.event.kind !== 'witness' ||
    before.left ||
    before.unseen > 0 ||
    ![...waiting, 'cancelled'].includes(before.state) ||
    before.state === after.state,
  'P16: a look-up changes nothing, and absence least': ({ before, act, after }) =>
    act.event.kind !== 'looked_up' || (before.state === after.state && before.evidence === after.evidence),
  'P16: only an order sends an unknown one again': ({ before, act, after }) =>
    before.state !== 'unknown' ||
    !waiting.includes(after.state) ||
    act.event.kind === 'retry' ||
    takenPerhaps(after) === 0,
  'P17: after a resend it ends only when as many transfers ended as may have been taken': (
    { before, act: { event, unshown }, after },
    { forgetful },
  ) => {
    if ((event.kind !== 'witness' && event.kind !== 'turned') || before.state === after.state) return true;
    if (!ended.includes(after.state)) return true;
    if (forgetful || unshown !== undefined) return false;
    const many = before.sent.length + before.unseen > 1 ? takenPerhaps(before) : 1;
    const paidBefore = before.state === 'success' && event.kind === 'witness';
    if (paidBefore && !restsOnPerson(before.evidence))
      return many < 2 || event.witness.transfers !== undefined;
    return (many < 2 && before.unseen === 0) || (event.witness.transfers ?? 0) >= many;
  },
  'P31: what is heard before it goes again takes the order back': (
    { before, act: { event }, after },
    worlds,
  ) => {
    if (event.kind === 'doubted')
      return (
        after.state !== 'ready' &&
        (!waiting.includes(before.state) || after.state === (takenPerhaps(before) > 0 ? 'unknown' : 'held'))
      );
    if (event.kind !== 'witness' || !waiting.includes(before.state) || takenPerhaps(before) === 0)
      return true;
    return worlds.forgetful || !waiting.includes(after.state);
  },
  'P32: a person ends whatever is not under way and not final by evidence': ({
    before,
    act: { event },
    after,
  }) =>
    event.kind !== 'settle' ||
    isUnderWay(before) ||
    (isFinalByEvidence(before) && !event.contradicted
      ? before.state === after.state
      : after.state === event.as),
  'P36: only a success that is surely failed twice, or shown as returned, has come back': ({
    before,
    act: { event },
    after,
  }) => {
    if (event.kind === 'turned')
      return before.state === after.state || (event.sure && before.state === 'success');
    return after.state !== 'returned' || before.state === 'returned' || event.kind === 'witness';
  },
  'P36: what came back is not paid again on any word': ({ before, act: { event }, after }) =>
    before.state !== 'returned' ||
    event.kind === 'settle' ||
    restsOnPerson(before.evidence) ||
    after.state === 'returned',
};

/** What must be true of a payout when nobody lies. */
const ofTruth: Record<string, (now: Payout) => boolean> = {
  'P4: what is called not taken was not taken': ({ state, sent }) =>
    !['refused', 'cancelled'].includes(state) || !sent.some((one) => isTaken(one) || one.truth === 'coming'),
  'P14: what is called paid was paid': ({ state, evidence, sent }) =>
    state !== 'success' ||
    restsOnPerson(evidence) ||
    sent.some(({ truth }) => ['success', 'returned', 'back'].includes(truth)),
  'P17: what is called failed or returned has ended, every transfer of it': ({ state, evidence, sent }) =>
    !ended.includes(state) ||
    restsOnPerson(evidence) ||
    (sent.some(isOver) && sent.every((one) => isOver(one) || ['lost', 'denied'].includes(one.truth))),
  'P36: what is called returned came back': ({ state, sent }) =>
    state !== 'returned' || sent.some(({ truth }) => ['returned', 'back'].includes(truth)),
};

/** The rule that this step breaks; null for none. */
export function brokenBy(step: Step, worlds: Worlds): string | null {
  for (const [rule, holds] of Object.entries(ofSteps)) if (!holds(step, worlds)) return rule;
  return null;
}

/** The rule that this payout breaks as it stands; null for none. A person may be wrong: such a word is no evidence. */
export function falseOf(now: Payout): string | null {
  for (const [rule, holds] of Object.entries(ofTruth)) if (!holds(now)) return rule;
  return isToldAtRest(now) ? null : 'P14: once all is heard, the ledger is right or somebody is told';
}

/** Hears everything there is to hear: in the end the state is the truth, or a conflict or an unknown is before a person. */
function isToldAtRest(now: Payout): boolean {
  if (now.sent.some(({ truth }) => truth === 'coming' || truth === 'pending')) return true;
  let last = now;
  let told = false;
  const hear = (act: Act): void => {
    const heard = applied(last, act, false);
    if (!heard) return;
    told ||= heard.effect.kind === 'conflict';
    last = heard.after;
  };
  for (const i of now.sent.keys()) hear({ event: { kind: 'abandoned', attemptId: BigInt(i), why: '' } });
  const taken = now.sent.filter(isTaken);
  if (taken.length === 0) return true;
  const status = together(taken);
  const all = taken.every(isOver) ? { transfers: taken.length } : {};
  hear({ event: witness('listing', status, { ...all, askedIn: last.state }) });
  for (const one of taken) hear({ event: witness('details', together([one]), { askedIn: last.state }) });
  if (told) return true;
  // A return is shown as failed.
  if (last.state === 'returned') return ['failed', 'returned'].includes(status);
  return last.state === status || (last.state === 'unknown' && takenPerhaps(last) > 1);
}
