import { type AttemptOutcome, mayHaveBeenTaken } from '../../../src/core/domain/outcome.ts';
import {
  type PayoutState,
  type RecordSource,
  type WitnessStatus,
  witnessStatuses,
} from '../../../src/core/domain/payout.ts';
import {
  type Effect,
  type LedgerEvent,
  mayHaveGoneAgain,
  type PayoutStanding,
  restsOnPerson,
  transition,
} from '../../../src/core/domain/transition.ts';

/** What became of a POST at the service. `coming`: its bytes may still arrive. `back`: it came back, shown as failed. */
export type Truth = 'coming' | 'lost' | 'denied' | 'pending' | 'success' | 'failed' | 'returned' | 'back';
export type Sent = { outcome: AttemptOutcome['kind'] | null; truth: Truth };

/** A payout as `record` keeps it, with the truth about each of its attempts, which stand in no order. */
export type Payout = {
  state: PayoutState;
  evidence: string;
  /** Something was sent, or a lost copy of the ledger may have sent it. */
  left: boolean;
  unseen: number;
  /** It waits because it was ordered to be sent again (P20, P16). */
  ordered: boolean;
  sent: readonly Sent[];
};

/** `unshown`: the witness ends the payout and does not show the transfer that was accepted. */
export type Act = { event: LedgerEvent; unshown?: string };

/** `honest`: whatever is heard is or was so. `lying`: anything may be heard at any time. `forgetful`: P25, before adoption. */
export type Worlds = { kind: 'honest' | 'lying'; attempts: number; forgetful: boolean };

/** What the service has shown of it so far, the newest last. */
const shown: Record<Truth, readonly WitnessStatus[]> = {
  coming: [],
  lost: [],
  denied: [],
  pending: ['pending'],
  success: ['pending', 'success'],
  failed: ['pending', 'failed'],
  returned: ['pending', 'success', 'returned'],
  back: ['pending', 'success', 'failed'],
};
const next: Partial<Record<Truth, readonly Truth[]>> = {
  coming: ['lost', 'denied', 'pending'],
  pending: ['success', 'failed'],
  success: ['returned', 'back'],
};
export const isTaken = ({ truth }: Sent): boolean => shown[truth].length > 0;
export const isOver = ({ truth }: Sent): boolean => ['failed', 'returned', 'back'].includes(truth);
export const isUnderWay = ({ sent }: Payout): boolean => sent.some(({ outcome }) => outcome === null);
export const takenPerhaps = ({ sent, unseen }: Payout): number =>
  sent.filter(({ outcome }) => mayHaveBeenTaken(outcome)).length + unseen;

const noText = { message: '', raw: '' };
const answers: Record<AttemptOutcome['kind'], AttemptOutcome> = {
  accepted: { kind: 'accepted', transferId: '7', status: 'pending', httpStatus: 200, ...noText },
  refused: { kind: 'refused', code: '24', httpStatus: 400, ...noText },
  not_sent: { kind: 'not_sent', message: '' },
  turned_away: { kind: 'turned_away', retryAfterMs: null, httpStatus: 429, code: null, ...noText },
  unknown: { kind: 'unknown', code: null, httpStatus: null, halts: false, ...noText },
};
const outcomes: readonly AttemptOutcome['kind'][] = [
  'accepted',
  'refused',
  'not_sent',
  'turned_away',
  'unknown',
];

type Source = Exclude<RecordSource, 'response'>;
export function witness(
  source: Source,
  status: WitnessStatus,
  more: { transfers?: number; askedIn?: PayoutState } = {},
): Extract<LedgerEvent, { kind: 'witness' }> {
  const { transfers, askedIn } = more;
  return {
    kind: 'witness',
    witness: { ...fields(source, status), ...(transfers !== undefined && { transfers }) },
    ...(askedIn && { askedIn }),
  };
}
// Without an id: which transfer a witness does not show, the model says itself.
const fields = (source: Source, status: WitnessStatus) => ({
  ...{ source, status, transferId: null, trx: null, fee: null, message: null, settledAt: null },
});

export const fresh = (state: PayoutState): Payout => ({
  ...{ state, evidence: '', left: false, unseen: 0, ordered: false, sent: [] },
});

/** Where a search begins: nothing was sent, or as many times as leaves one more, each time without an answer. */
export const beginnings = ({ attempts }: Worlds): Payout[] => {
  const sent = Array.from({ length: attempts - 1 }, (): Sent => ({ outcome: 'unknown', truth: 'coming' }));
  const again: Payout = { ...fresh('ready'), left: true, ordered: true, sent };
  return [fresh('ready'), fresh('held'), ...(attempts > 1 ? [again] : [])];
};

/** The payout after the event as `record` leaves it, and what `transition` made of it; null: the event has no effect. */
export function applied(
  now: Payout,
  { event, unshown }: Act,
  forgetful: boolean,
): { effect: Effect; after: Payout } | null {
  const sent = now.sent.map((one) => ({ ...one }));
  const isAnswer = event.kind === 'outcome' || event.kind === 'abandoned';
  const own = isAnswer ? sent[Number(event.attemptId)] : undefined;
  if (isAnswer) {
    if (!own) return null;
    if (own.outcome !== null && (event.kind === 'abandoned' || own.outcome !== 'unknown')) return null;
    own.outcome = event.kind === 'abandoned' ? 'unknown' : event.outcome.kind;
  }
  const isLoaded =
    ['outcome', 'abandoned', 'cancel', 'adopted', 'doubted', 'settle'].includes(event.kind) ||
    ((event.kind === 'witness' || event.kind === 'turned') && sent.length + now.unseen > 1);
  const taken = isLoaded ? sent.filter(({ outcome }) => mayHaveBeenTaken(outcome)) : [];
  const other = taken.filter((one) => one !== own);
  const standing: PayoutStanding = {
    state: now.state,
    evidence: now.evidence,
    isNeverSent: !now.left && now.unseen === 0,
    otherAttemptOpen: other.length + now.unseen > 0,
    otherUnderWay: other.some(({ outcome }) => outcome === null),
    possiblyTaken: (isLoaded ? taken.length : sent.length) + now.unseen,
    forgotten: now.unseen > 0,
    forgetful: forgetful && ['witness', 'turned', 'settle'].includes(event.kind),
    ...(unshown !== undefined && { unshown }),
  };
  const effect = transition(standing, event);
  const after: Payout = { ...now, sent };
  if (effect.kind === 'move') after.state = effect.to;
  if (effect.kind !== 'conflict') after.evidence = effect.evidence;
  if (effect.kind !== 'conflict' && event.kind === 'intent') {
    sent.push({ outcome: null, truth: 'coming' });
    after.left = true;
  }
  if (event.kind === 'outcome' && event.outcome.kind === 'not_sent' && now.unseen === 0)
    after.left = sent.some(({ outcome }) => outcome !== 'not_sent');
  if (event.kind === 'adopted' && after.state === 'unknown') {
    after.left = true;
    if (mayHaveGoneAgain(now)) after.unseen += 1;
  }
  if (standing.forgetful && effect.kind !== 'conflict' && mayHaveGoneAgain(now) && !mayHaveGoneAgain(after))
    after.unseen += 1;
  const waits = after.state === 'ready' || after.state === 'held';
  after.ordered = waits && (now.ordered || (event.kind === 'retry' && effect.kind === 'move'));
  return { effect, after };
}

/** Everything that may happen at the service without anybody hearing of it. */
export function unheard(now: Payout): Payout[] {
  return now.sent.flatMap((one, i) =>
    (next[one.truth] ?? []).map((truth) => ({ ...now, sent: now.sent.with(i, { ...one, truth }) })),
  );
}

/** Everything that people and processes may do, and all that may be heard. */
export function possible(now: Payout, worlds: Worlds): Act[] {
  return [...deeds(now, worlds), ...answered(now, worlds), ...said(now, worlds)];
}

function deeds(now: Payout, { kind, attempts, forgetful }: Worlds): Act[] {
  const events: LedgerEvent[] = [
    { kind: 'looked_up', found: false },
    { kind: 'looked_up', found: true },
    { kind: 'hold', why: '' },
    { kind: 'release' },
    { kind: 'cancel', why: '' },
    { kind: 'doubted', why: '' },
    { kind: 'replaced', by: 'R-2' },
    ...[true, false].flatMap((contradicted) =>
      (['success', 'failed'] as const).map((as) => ({ kind: 'settle', as, note: '', contradicted }) as const),
    ),
  ];
  if (now.sent.length < attempts || now.state !== 'ready')
    events.push({ kind: 'intent', attemptId: BigInt(now.sent.length) });
  // Whoever orders it again first asks whether an attempt is under way (src/watching/evidence/judge.ts).
  if (!isUnderWay(now) || now.state !== 'unknown')
    for (const to of ['ready', 'held'] as const)
      events.push({ kind: 'retry', to, automatic: false, why: '' });
  if (kind === 'lying' && !forgetful && now.unseen === 0)
    events.push({ kind: 'adopted', since: '2026-11-21T10:00:00.000Z', why: '' });
  return events.map((event) => ({ event }));
}

function answered({ sent }: Payout, { kind }: Worlds): Act[] {
  const mayBe: Record<AttemptOutcome['kind'], (one: Sent) => boolean> = {
    accepted: isTaken,
    refused: ({ truth }) => truth === 'denied',
    turned_away: ({ truth }) => truth === 'denied',
    not_sent: ({ truth }) => truth === 'lost',
    unknown: () => true,
  };
  return sent.flatMap((one, i) => {
    const attemptId = BigInt(i);
    const events: LedgerEvent[] = outcomes
      .filter((outcome) => kind === 'lying' || mayBe[outcome](one))
      .map((outcome) => ({ kind: 'outcome', attemptId, outcome: answers[outcome] }));
    return [...events, { kind: 'abandoned', attemptId, why: '' } as const].map((event) => ({ event }));
  });
}

function said(now: Payout, worlds: Worlds): Act[] {
  if (worlds.kind === 'lying') return anything(now);
  const taken = now.sent.filter(isTaken);
  const acts: Act[] = [];
  const add = (event: LedgerEvent, isShown: (one: Sent) => boolean): void => {
    acts.push({ event });
    const hides = now.sent.some((one) => one.outcome === 'accepted' && !isShown(one));
    const ends =
      (event.kind === 'witness' || event.kind === 'turned') &&
      ['failed', 'returned'].includes(event.witness.status);
    if (hides && ends) acts.push({ event, unshown: 'another' });
  };
  for (const one of taken) {
    const isShown = (other: Sent): boolean => other === one;
    for (const status of shown[one.truth]) {
      add(witness('webhook', status), isShown);
      // An answer that was under way for long.
      add(witness('details', status), isShown);
    }
    add(witness('details', current(one), { askedIn: now.state }), isShown);
  }
  for (const some of subsets(taken)) {
    const isShown = (one: Sent): boolean => some.includes(one);
    const status = together(some);
    add(witness('listing', status, { askedIn: now.state }), isShown);
    // A complete list that was begun before the others came.
    if (some.every(isOver)) add(witness('listing', status, { transfers: some.length }), isShown);
  }
  // Only what rests on evidence can turn (src/books/discrepancies/classify.ts).
  if (taken.length > 0 && taken.every((one) => current(one) === 'failed') && !restsOnPerson(now.evidence))
    for (const sure of [true, false]) add(turned(taken.length, sure), (one) => taken.includes(one));
  return acts;
}

function turned(transfers: number, sure: boolean): LedgerEvent {
  return { kind: 'turned', witness: { ...fields('listing', 'failed'), transfers }, first: 'r-1', sure };
}

function anything(now: Payout): Act[] {
  const events: LedgerEvent[] = [];
  for (const status of witnessStatuses) {
    for (const source of ['webhook', 'details', 'person'] as const)
      for (const askedIn of [undefined, now.state])
        events.push(witness(source, status, askedIn && { askedIn }));
    for (const transfers of [undefined, 1, 2, 3])
      events.push(witness('listing', status, transfers === undefined ? {} : { transfers }));
  }
  for (const sure of [true, false]) for (const transfers of [1, 2, 3]) events.push(turned(transfers, sure));
  return events.flatMap((event) => [{ event }, { event, unshown: 'another' }]);
}

const current = ({ truth }: Sent): WitnessStatus => shown[truth].at(-1) ?? 'pending';

/** What a list says of several transfers under one reference (P17). */
export function together(some: readonly Sent[]): WitnessStatus {
  const statuses = some.map(current);
  if (statuses.includes('success')) return 'success';
  if (statuses.includes('pending')) return 'pending';
  return statuses.includes('returned') ? 'returned' : 'failed';
}

function subsets<T>(all: readonly T[]): T[][] {
  let every: T[][] = [[]];
  for (const one of all) every = every.concat(every.map((some) => [...some, one]));
  return every.filter((some) => some.length > 0);
}
