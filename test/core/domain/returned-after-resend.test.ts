import { expect, it } from 'vitest';
import { transition } from '../../../src/core/domain/transition.ts';
import type { Witness } from '../../../src/core/domain/witness.ts';

const paidAfterResend = {
  state: 'success' as const,
  evidence: 'details',
  isNeverSent: false,
  otherAttemptOpen: true,
  otherUnderWay: false,
  forgetful: false,
  possiblyTaken: 2,
};
const returned: Witness = {
  source: 'details',
  status: 'returned',
  transferId: '1',
  trx: null,
  fee: null,
  message: null,
  settledAt: null,
};

it('P17: after a resend one transfer that came back does not make the payout returned', () => {
  expect(transition(paidAfterResend, { kind: 'witness', witness: returned }).kind).toBe('keep');
});

it('P17: after a resend a complete listing in which all came back makes it returned', () => {
  const witness: Witness = { ...returned, source: 'listing', transfers: 2 };
  expect(transition(paidAfterResend, { kind: 'witness', witness })).toMatchObject({
    kind: 'move',
    to: 'returned',
  });
});

it('P17: after a resend a complete listing that lacks one of two sends is a conflict, and no return', () => {
  const witness: Witness = { ...returned, source: 'listing', transfers: 1 };
  expect(transition(paidAfterResend, { kind: 'witness', witness }).kind).toBe('conflict');
});

it('P17: one failed transfer of two does not prove what a person called not paid', () => {
  const settled = { ...paidAfterResend, state: 'failed' as const, evidence: 'person' };
  const failed: Witness = { ...returned, status: 'failed' };
  expect(transition(settled, { kind: 'witness', witness: failed })).toMatchObject({
    kind: 'keep',
    evidence: 'person',
  });
  const all: Witness = { ...failed, source: 'listing', transfers: 2 };
  expect(transition(settled, { kind: 'witness', witness: all })).toMatchObject({
    evidence: 'listing+person',
  });
});

it('P17: what was sent once is returned on the word of its details', () => {
  const once = { ...paidAfterResend, possiblyTaken: 1 };
  expect(transition(once, { kind: 'witness', witness: returned })).toMatchObject({ to: 'returned' });
});
