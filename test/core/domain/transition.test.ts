import { describe, expect, it } from 'vitest';
import type { AttemptOutcome } from '../../../src/core/domain/outcome.ts';
import { type PayoutState, payoutStates, type WitnessStatus } from '../../../src/core/domain/payout.ts';
import {
  isClosedByPerson,
  type LedgerEvent,
  mayHaveGoneAgain,
  type PayoutStanding,
  transition,
} from '../../../src/core/domain/transition.ts';
import type { Witness } from '../../../src/core/domain/witness.ts';

const outcomes: Record<AttemptOutcome['kind'], AttemptOutcome> = {
  accepted: { kind: 'accepted', transferId: '7', status: 'pending', httpStatus: 200, message: '', raw: '' },
  refused: { kind: 'refused', code: '24', httpStatus: 400, message: '', raw: '' },
  not_sent: { kind: 'not_sent', message: '' },
  turned_away: {
    kind: 'turned_away',
    retryAfterMs: null,
    httpStatus: 429,
    code: null,
    message: '',
    raw: '',
  },
  unknown: { kind: 'unknown', code: null, httpStatus: null, message: '', raw: '', halts: false },
};
const outcome = (kind: AttemptOutcome['kind']): LedgerEvent => ({
  kind: 'outcome',
  attemptId: 1n,
  outcome: outcomes[kind],
});
const said = (source: Witness['source'], status: WitnessStatus): Witness => ({
  ...{ source, status, transferId: '7', trx: 'T', fee: null, message: null, settledAt: null },
});
const witness = (source: Witness['source'], status: WitnessStatus): LedgerEvent => ({
  kind: 'witness',
  witness: said(source, status),
});
const standing = (state: PayoutState, more: Partial<PayoutStanding> = {}): PayoutStanding => ({
  state,
  evidence: '',
  isNeverSent: false,
  otherAttemptOpen: false,
  otherUnderWay: false,
  forgetful: false,
  possiblyTaken: 0,
  ...more,
});
const turned = (sure: boolean): LedgerEvent => ({
  ...{ kind: 'turned', witness: said('listing', 'failed'), first: 'r-1', sure },
});

function result(now: PayoutStanding, event: LedgerEvent): string {
  const effect = transition(now, event);
  return effect.kind === 'move' ? effect.to : effect.kind;
}

const order = 'held ready sending pending success failed refused unknown cancelled returned';
/** One row an event, one column a state: the state moved to, `.` kept, `!` a conflict for a person, `-` cannot be. */
const table: [name: string, event: LedgerEvent, effects: string][] = [
  ['an intent', { kind: 'intent', attemptId: 1n }, '! sending ! ! ! ! ! ! ! !'],
  // A held payout has no attempt that could still be answered: `hold` leaves everything but `ready` alone.
  ['accepted', outcome('accepted'), '- pending pending . . . ! pending ! .'],
  ['refused', outcome('refused'), '. . refused . . . . refused . .'],
  ['not sent', outcome('not_sent'), '. . ready . . . . ready . .'],
  ['turned away', outcome('turned_away'), '. . ready . . . . ready . .'],
  ['an unknown outcome', outcome('unknown'), '. . unknown . . . . . . .'],
  ['a dead sender', { kind: 'abandoned', attemptId: 1n, why: 'died' }, '. . unknown . . . . . . .'],
  ['a look-up that found it', { kind: 'looked_up', found: true }, '. . . . . . . . . .'],
  ['a look-up that did not (P16)', { kind: 'looked_up', found: false }, '. . . . . . . . . .'],
  ['turned to failed, too soon (P36)', turned(false), '. . . . . . . . . .'],
  ['turned to failed, surely (P36)', turned(true), '. . . . returned . . . . .'],
  ['hold', { kind: 'hold', why: 'a person' }, '. held . . . . . . . .'],
  ['release', { kind: 'release' }, 'ready . . . . . . . . .'],
  ['cancel (P21)', { kind: 'cancel', why: 'a person' }, 'cancelled cancelled . . . . . . . .'],
  [
    'retry (P20)',
    { kind: 'retry', to: 'ready', automatic: false, why: 'a person' },
    '! ! ! ! ! ! ! ready ! !',
  ],
  ['a doubt', { kind: 'doubted', why: 'listed' }, '. held . . . . . . . .'],
  [
    'settled as paid (P32)',
    { kind: 'settle', as: 'success', note: 'n' },
    'success success ! success ! ! ! success ! !',
  ],
  [
    'settled as not paid (P32)',
    { kind: 'settle', as: 'failed', note: 'n' },
    'failed failed ! failed ! ! ! failed ! !',
  ],
  [
    'settled as not paid, other evidence speaking against its own (P32)',
    { kind: 'settle', as: 'failed', note: 'n', contradicted: true },
    'failed failed ! failed failed failed failed failed failed failed',
  ],
  ['a successor (P20)', { kind: 'replaced', by: 'R-1-R2' }, '! ! ! ! ! . . ! . .'],
  [
    'adoption (P25)',
    { kind: 'adopted', since: '2026-11-21T10:00:00.000Z', why: 'restored' },
    'unknown unknown unknown . . unknown unknown . . .',
  ],
];
const details: [WitnessStatus, string][] = [
  ['pending', 'pending pending pending . . . pending pending ! .'],
  ['success', 'success success success success . ! success success ! .'],
  ['failed', 'failed failed failed failed ! . failed failed ! .'],
  ['returned', 'returned returned returned returned returned ! returned returned ! .'],
];
const webhook: [WitnessStatus, string][] = [
  ['pending', 'pending pending pending . . . ! pending ! .'],
  ['success', 'pending pending pending . . ! ! pending ! .'],
  ['failed', 'pending pending pending . ! . ! pending ! .'],
  ['returned', 'pending pending pending . ! ! ! pending ! .'],
];
for (const [status, effects] of details) {
  for (const source of ['details', 'listing', 'person'] as const)
    table.push([`${source} says ${status} (P14)`, witness(source, status), effects]);
}
for (const [status, effects] of webhook)
  table.push([`a webhook says ${status} (P14)`, witness('webhook', status), effects]);

describe('every event in every state', () => {
  it('the table has one column for each state', () => {
    expect(order.split(' ')).toEqual([...payoutStates]);
    for (const [, , effects] of table) expect(effects.split(' ')).toHaveLength(payoutStates.length);
  });
  const cases = table.flatMap(([name, event, effects]) =>
    effects.split(' ').flatMap((effect, i) => {
      const state = payoutStates[i];
      const told = effect === '.' ? 'keep' : effect === '!' ? 'conflict' : effect;
      return state === undefined || effect === '-' ? [] : [{ name, event, state, told }];
    }),
  );
  it.each(cases)('$name in $state: $told', ({ event, state, told }) => {
    expect(result(standing(state), event)).toBe(told);
  });
});

describe('P4: an outcome belongs to its attempt', () => {
  const other = { otherAttemptOpen: true, attemptCount: 2 };
  it.each(['refused', 'not_sent', 'turned_away'] as const)(
    'P4: %s leaves the payout unknown while another attempt may have been taken',
    (kind) => {
      expect(result(standing('sending', other), outcome(kind))).toBe('unknown');
      expect(result(standing('unknown', other), outcome(kind))).toBe('unknown');
    },
  );
  it('P4: a late word on an earlier attempt leaves one that is under way to its own answer', () => {
    const during = { ...other, otherUnderWay: true };
    for (const kind of ['refused', 'not_sent', 'turned_away', 'unknown'] as const)
      expect(result(standing('sending', during), outcome(kind)), kind).toBe('keep');
    expect(result(standing('sending', during), outcome('accepted'))).toBe('pending');
  });
  it('P4: a late acceptance of an unknown attempt counts, whatever else is open', () => {
    expect(result(standing('held', other), outcome('accepted'))).toBe('pending');
    expect(result(standing('unknown', other), outcome('accepted'))).toBe('pending');
  });
  it('P4: no outcome takes a final state back', () => {
    for (const state of ['success', 'failed', 'returned'] as const)
      for (const kind of ['accepted', 'refused', 'not_sent', 'turned_away', 'unknown'] as const)
        expect(result(standing(state), outcome(kind)), `${kind} in ${state}`).toBe('keep');
  });
});

describe('P20: what is heard before a retry goes takes the order back', () => {
  const doubt: LedgerEvent = { kind: 'doubted', why: 'listed' };
  it.each(['ready', 'held'] as const)(
    'P20: what may have been taken is unknown again, %s as it was',
    (state) => {
      expect(result(standing(state, { possiblyTaken: 1 }), doubt)).toBe('unknown');
    },
  );
  it('P20: what is being sent, or has ended, stays as it is', () => {
    for (const state of ['sending', 'success', 'failed'] as const)
      expect(result(standing(state, { possiblyTaken: 1 }), doubt), state).toBe('keep');
  });
});

describe('P19: a person’s word stands until later evidence', () => {
  const told = (state: PayoutState) => standing(state, { evidence: 'webhook+person' });
  it('P19: the list or the details reopen it, a webhook alone does not', () => {
    expect(result(told('failed'), witness('listing', 'success'))).toBe('success');
    expect(result(told('success'), witness('details', 'failed'))).toBe('failed');
    expect(result(told('failed'), witness('details', 'pending'))).toBe('pending');
    expect(result(told('failed'), witness('webhook', 'success'))).toBe('conflict');
  });
  it('P19: an acceptance is later evidence than a person’s not paid, and agrees with a person’s paid', () => {
    expect(transition(told('failed'), outcome('accepted'))).toEqual({
      kind: 'move',
      to: 'pending',
      evidence: 'response',
    });
    expect(result(told('success'), outcome('accepted'))).toBe('keep');
  });
  it('P19: once the service agrees it is final like any other', () => {
    const agreed = transition(told('success'), witness('listing', 'success'));
    expect(agreed).toMatchObject({ kind: 'keep', evidence: 'webhook+listing+person' });
    expect(result(standing('success', { evidence: 'listing+person' }), witness('details', 'failed'))).toBe(
      'conflict',
    );
  });
});

it('P17: the service agrees with a person’s "not paid" only by a word about every send', () => {
  const agreed = (state: 'success' | 'failed', more: Partial<PayoutStanding>) => {
    const effect = transition(standing(state, { evidence: 'person', ...more }), witness('details', state));
    return [effect.kind, 'evidence' in effect && effect.evidence];
  };
  expect(agreed('failed', { possiblyTaken: 1 })).toEqual(['keep', 'details+person']);
  expect(agreed('failed', { possiblyTaken: 2 })).toEqual(['keep', 'person']);
  expect(agreed('failed', { possiblyTaken: 1, forgetful: true })).toEqual(['keep', 'person']);
  const paid = agreed('success', { possiblyTaken: 2, forgetful: true });
  expect(paid, 'one success is enough').toEqual(['keep', 'details+person']);
  const listed = { possiblyTaken: 2, evidence: 'listing' };
  expect(agreed('failed', listed), 'no person said it').toEqual(['keep', 'listing+details']);
});

describe('P17: after a resend, failed needs every transfer', () => {
  const twice = { possiblyTaken: 2 };
  const listed = (transfers: number): LedgerEvent => {
    const event = witness('listing', 'failed');
    return event.kind === 'witness' ? { ...event, witness: { ...event.witness, transfers } } : event;
  };
  it('P17: one failed transfer of two possible ones leaves the payout unknown', () => {
    expect(result(standing('unknown', twice), witness('details', 'failed'))).toBe('keep');
    expect(result(standing('pending', twice), witness('details', 'failed'))).toBe('unknown');
    expect(result(standing('pending', twice), listed(1))).toBe('unknown');
    expect(result(standing('sending', twice), listed(1))).toBe('keep');
  });
  it('P17: as many failed transfers as possible attempts, in a complete listing, fail it', () => {
    expect(result(standing('unknown', twice), listed(2))).toBe('failed');
  });
  it('P17: one returned transfer of two possible ones does not end the payout either', () => {
    expect(result(standing('unknown', twice), witness('details', 'returned'))).toBe('keep');
    expect(result(standing('pending', twice), witness('listing', 'returned'))).toBe('unknown');
  });
  it('P25: a payout that an adopted ledger may have sent is settled while it waits for its retry', () => {
    const waiting = standing('ready', { possiblyTaken: 1 });
    expect(result(waiting, witness('details', 'success'))).toBe('success');
  });
  it('P25: what a lost copy may have sent more than once fails only by a complete listing', () => {
    const adopted = standing('unknown', { possiblyTaken: 1, forgotten: true });
    expect(result(adopted, witness('details', 'failed')), 'the first may be paid').toBe('keep');
    expect(result({ ...adopted, state: 'pending' }, witness('details', 'failed'))).toBe('unknown');
    expect(result(adopted, listed(1))).toBe('failed');
    expect(result(adopted, witness('details', 'success'))).toBe('success');
    const paid = { ...adopted, state: 'success' as const, evidence: 'details' };
    expect(result(paid, witness('details', 'returned')), 'another may be paid still').toBe('keep');
  });
  it('P17: one success is a success', () => {
    expect(result(standing('unknown', twice), witness('details', 'success'))).toBe('success');
    expect(result(standing('pending', { unshown: '9' }), witness('details', 'success'))).toBe('success');
  });
  it('P17: the history says how many may have been taken', () => {
    const why = (more: Partial<PayoutStanding>) =>
      transition(standing('unknown', more), witness('details', 'failed'));
    expect(why(twice)).toMatchObject({
      why: 'details shows a failed transfer, but 2 may have been taken',
    });
    expect(why({ possiblyTaken: 1, forgotten: true })).toMatchObject({
      why: 'details shows a failed transfer, but several may have been taken',
    });
  });
  it('P17: no other transfer that ended speaks for the one that was accepted and is not shown', () => {
    const unshown = { possiblyTaken: 1, unshown: '9' };
    const failed = witness('details', 'failed');
    expect(transition(standing('pending', unshown), failed)).toMatchObject({ to: 'unknown' });
    const ended = standing('failed', { ...unshown, evidence: 'listing' });
    expect(transition(ended, failed)).toMatchObject({
      kind: 'keep',
      evidence: 'listing',
      why: expect.stringContaining('the one it was accepted as, 9, may still settle'),
    });
    expect(result(standing('success', unshown), witness('details', 'returned'))).toBe('keep');
  });
});

it('P25: a ledger that went back in time lets nothing end as failed or returned before it is adopted', () => {
  const forgetful = { forgetful: true, possiblyTaken: 1 };
  for (const state of ['unknown', 'pending', 'sending', 'refused'] as const)
    expect(result(standing(state, forgetful), witness('details', 'failed')), state).toBe('keep');
  expect(result(standing('success', forgetful), witness('listing', 'returned'))).toBe('keep');
  expect(result(standing('unknown', forgetful), witness('details', 'success'))).toBe('success');
});

it('what a person settled still rests on that person while a ledger that went back in time keeps its state', () => {
  const settled = standing('success', { forgetful: true, possiblyTaken: 1, evidence: 'person' });
  for (const source of ['listing', 'details'] as const)
    expect(transition(settled, witness(source, 'failed'))).toMatchObject({
      kind: 'keep',
      evidence: 'person',
    });
});

it('P25: adds one send to what a newer copy may have sent, and none to what is paid or repeated elsewhere', () => {
  const again = payoutStates.filter((state) => mayHaveGoneAgain({ state, evidence: 'listing' }));
  expect(again).toEqual(['held', 'ready', 'sending', 'refused', 'unknown']);
  expect(mayHaveGoneAgain({ state: 'failed', evidence: 'person' })).toBe(true);
});

describe('P32: what a person closed', () => {
  const settle = (as: 'success' | 'failed'): LedgerEvent => ({
    ...{ kind: 'settle', as, note: 'n', contradicted: true },
  });
  it('P32: rests on the person alone, except that what was shown as paid stays shown so (P36)', () => {
    const evidence = (state: PayoutState, as: 'success' | 'failed') =>
      transition(standing(state, { evidence: 'listing' }), settle(as));
    expect(evidence('unknown', 'success')).toEqual({ kind: 'move', to: 'success', evidence: 'person' });
    expect(evidence('success', 'success')).toMatchObject({ evidence: 'listing+person' });
    expect(evidence('returned', 'success')).toMatchObject({ evidence: 'listing+person' });
    expect(evidence('success', 'failed')).toMatchObject({ evidence: 'person' });
  });
  it('P32: may be closed in another way, unless an attempt is under way', () => {
    const closed = standing('success', { evidence: 'person' });
    const failed: LedgerEvent = { kind: 'settle', as: 'failed', note: 'n' };
    expect(result(closed, failed)).toBe('failed');
    expect(result({ ...closed, otherUnderWay: true }, failed)).toBe('conflict');
  });
  it('P32: is closed only where it ended, and by the person alone', () => {
    const closed = (state: PayoutState, evidence: string) => isClosedByPerson({ state, evidence });
    expect([
      closed('success', 'webhook+person'),
      closed('success', 'listing'),
      closed('unknown', 'person'),
    ]).toEqual([true, false, false]);
  });
});

describe('P36: list and details say failed of a paid payout', () => {
  const surely = (transfers?: number): LedgerEvent => ({
    ...{ kind: 'turned', first: 'r-1', sure: true },
    witness: { ...said('listing', 'failed'), ...(transfers !== undefined && { transfers }) },
  });
  const turn = (more: Partial<PayoutStanding>, transfers?: number) =>
    result(standing('success', more), surely(transfers));
  it('P36: is returned once as many transfers failed as may have been taken', () => {
    expect([1, 2, 3].map((n) => turn({ possiblyTaken: 2 }, n))).toEqual([
      ...['conflict', 'returned', 'returned'],
    ]);
    expect(turn({ possiblyTaken: 2 })).toBe('conflict');
    expect(turn({ possiblyTaken: 1, forgotten: true })).toBe('conflict');
  });
  it('P36: is for a person while a send may be missing or is not among those shown', () => {
    expect(turn({ possiblyTaken: 1, forgetful: true }, 1)).toBe('conflict');
    expect(turn({ possiblyTaken: 1, unshown: '9' }, 1)).toBe('conflict');
  });
});

it('P36: what agreed with the success is no evidence of the return', () => {
  const paid = standing('success', { evidence: 'response+listing' });
  expect(transition(paid, witness('details', 'returned'))).toMatchObject({ evidence: 'details' });
  const pending = standing('pending', { evidence: 'response' });
  expect(transition(pending, witness('details', 'success'))).toMatchObject({ evidence: 'response+details' });
});

it('P2: a sender that died decides nothing while another attempt is under way', () => {
  const dead: LedgerEvent = { kind: 'abandoned', attemptId: 1n, why: 'died' };
  expect(result(standing('sending', { otherUnderWay: true }), dead)).toBe('keep');
});

it('P16: the history says whether a look-up found it', () => {
  const why = (found: boolean) => transition(standing('unknown'), { kind: 'looked_up', found });
  expect(why(true)).toMatchObject({ why: 'a look-up found it' });
  expect(why(false)).toMatchObject({ why: 'a look-up did not find it; absence proves nothing' });
});

describe('P21: cancel touches only what was never sent', () => {
  it('P21: a retry that waits was sent before: without it the payout is unknown again', () => {
    for (const state of ['ready', 'held'] as const)
      expect(result(standing(state, { possiblyTaken: 1 }), { kind: 'cancel', why: 'x' })).toBe('unknown');
  });
});

describe('P14: final needs a details or listing witness', () => {
  it('P14: ignores a late failed webhook after success was confirmed', () => {
    const confirmed = transition(standing('pending'), witness('details', 'success'));
    expect(confirmed).toMatchObject({ kind: 'move', to: 'success' });
    expect(transition(standing('success', { evidence: 'details' }), witness('webhook', 'failed'))).toEqual({
      kind: 'conflict',
      why: 'webhook says failed, the ledger says success',
    });
  });
  it('P14: two final witnesses that disagree are a conflict, never an overwrite', () => {
    expect(result(standing('success'), witness('details', 'failed'))).toBe('conflict');
    expect(result(standing('failed'), witness('listing', 'success'))).toBe('conflict');
  });
  it('P14: sources that agree are added to the evidence in their order', () => {
    const now = standing('success', { evidence: 'response+details' });
    expect(transition(now, witness('webhook', 'success'))).toMatchObject({
      kind: 'keep',
      evidence: 'response+webhook+details',
    });
  });
  it('P15: a transfer under the reference of a payout that was never sent is a conflict', () => {
    for (const state of ['held', 'ready'] as const)
      for (const source of ['webhook', 'details', 'listing'] as const)
        expect(result(standing(state, { isNeverSent: true }), witness(source, 'success'))).toBe('conflict');
  });
});

it('P36: a success asked for after a return contradicts it, one asked for before or a webhook may be older', () => {
  const asked = (source: Witness['source'], askedIn?: PayoutState): LedgerEvent => ({
    kind: 'witness',
    witness: said(source, 'success'),
    ...(askedIn && { askedIn }),
  });
  expect(result(standing('returned'), asked('details', 'returned'))).toBe('conflict');
  expect(result(standing('returned'), asked('details', 'success'))).toBe('keep');
  expect(result(standing('returned'), asked('webhook', 'returned'))).toBe('keep');
});
