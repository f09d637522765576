import { expect, it } from 'vitest';
import {
  discrepancyKinds,
  isDiscrepancyKind,
  kindsShownBy,
  kindsWhere,
} from '../../../src/core/domain/discrepancy-kinds.ts';

/** They show another transfer than the one that was ordered. */
const notAsOrdered = [
  'amount_conflict',
  'beneficiary_conflict',
  'currency_conflict',
  'mode_conflict',
  'reference_collision',
  'status_conflict',
] as const;

it('lists every kind once, in the order of the alphabet', () => {
  expect(discrepancyKinds).toEqual([...new Set(discrepancyKinds)].toSorted());
  expect(['paid_twice', 'toString', ''].map(isDiscrepancyKind)).toEqual([true, false, false]);
});

it('P32: what says only that nothing more came ends with the decision about its payout', () => {
  expect(kindsWhere(({ isSilence }) => isSilence)).toEqual([
    ...['missing_at_service', 'stale_pending', 'unknown_outcome', 'webhook_missing'],
  ]);
});

it('P32: a person may close a payout against the evidence where one of these speaks against it', () => {
  const against = [...notAsOrdered, 'missing_at_service', 'webhook_conflict'];
  expect(kindsWhere(({ againstEvidence }) => againstEvidence)).toEqual(against.toSorted());
});

it('P32: where other money is in question, closing the payout only acknowledges', () => {
  const resolved = ['reference_collision', 'status_conflict', 'webhook_conflict'];
  const silences = kindsWhere(({ isSilence }) => isSilence);
  expect(kindsWhere(({ onClose }) => onClose === 'resolved')).toEqual([...resolved, ...silences].toSorted());
});

it('results say that a payout is in doubt while one of these is open', () => {
  const doubts = [...notAsOrdered, 'missing_at_service', 'paid_twice'];
  expect(kindsWhere(({ againstState }) => againstState)).toEqual(doubts.toSorted());
});

it('P30: every kind about where money is counts in the verdict, by a line or by itself', () => {
  expect(kindsWhere(({ inVerdict }) => inVerdict === 'line')).toEqual([
    ...['amount_conflict', 'currency_conflict', 'duplicate_at_service'],
    ...['missing_at_service', 'missing_in_ledger'],
  ]);
  expect(kindsWhere(({ inVerdict }) => inVerdict === 'itself')).toEqual([
    ...['beneficiary_conflict', 'mode_conflict', 'paid_twice', 'reference_collision', 'status_conflict'],
  ]);
});

it('tells what must be read before one may be closed as gone', () => {
  expect(kindsShownBy('transfer')).toEqual(notAsOrdered);
  expect(kindsShownBy('no_webhook')).toEqual(['webhook_missing']);
  expect(kindsShownBy('transfer_count')).toEqual(['duplicate_at_service', 'paid_twice']);
});
