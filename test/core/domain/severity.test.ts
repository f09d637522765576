import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type DiscrepancyKind,
  discrepancyKinds,
  kindRules,
  type Severity,
} from '../../../src/core/domain/discrepancy-kinds.ts';
import { severityOf } from '../../../src/core/domain/severity.ts';

const order: Severity[] = ['low', 'medium', 'high'];
const facts = fc.record({
  kind: fc.constantFrom(...discrepancyKinds),
  difference: fc.oneof(
    fc.constantFrom('', '0.00', '0.99', '-0.99', '1.00', '-1500.00', '0.0000001', 'no amount', '1e99'),
    fc.string(),
  ),
  moved: fc.boolean(),
  ageDays: fc.integer({ min: 0, max: 4000 }),
});

it('every discrepancy has a severity, whatever it is, and age never makes it less grave', () => {
  fc.assert(
    fc.property(facts, fc.integer({ min: 0, max: 400 }), (one, more) => {
      const now = order.indexOf(severityOf(one));
      const later = order.indexOf(severityOf({ ...one, ageDays: one.ageDays + more }));
      expect(now).toBeGreaterThanOrEqual(0);
      expect(later).toBeGreaterThanOrEqual(now);
      expect(later - now).toBeLessThanOrEqual(1);
      const after = kindRules[one.kind].rating.afterDays;
      if (after === null || one.ageDays >= after) expect(later).toBe(now);
    }),
  );
});

it('what was paid twice is high however small it is; nothing else below one unit ever is', () => {
  fc.assert(
    fc.property(facts, fc.integer({ min: -99, max: 99 }), (one, cents) => {
      const difference = `${cents < 0 ? '-' : ''}0.${String(Math.abs(cents)).padStart(2, '0')}`;
      const severity = severityOf({ ...one, difference });
      expect(severity === 'high').toBe(one.kind === 'paid_twice');
    }),
  );
});

it('what may have moved money wrongly is high on its first day', () => {
  const wrong: DiscrepancyKind[] = [
    'missing_at_service',
    'missing_in_ledger',
    'status_conflict',
    'amount_conflict',
    'currency_conflict',
    'beneficiary_conflict',
    'mode_conflict',
    'duplicate_at_service',
    'paid_twice',
    'reference_collision',
    'unknown_outcome',
    'collection_conflict',
  ];
  for (const kind of discrepancyKinds) {
    const severity = severityOf({ kind, difference: '-10.00', moved: true, ageDays: 0 });
    expect(severity === 'high', kind).toBe(wrong.includes(kind));
  }
});

it('a missing webhook and another fee stay low, and are medium when nobody sees to them', () => {
  for (const kind of ['webhook_missing', 'fee_conflict'] as const) {
    expect(severityOf({ kind, difference: '500.00', moved: false, ageDays: 0 })).toBe('low');
    expect(severityOf({ kind, difference: '500.00', moved: false, ageDays: 3650 })).toBe('medium');
  }
});

it('a delay is medium, and high when it lasts', () => {
  const pending = { kind: 'stale_pending' as const, difference: '', moved: false };
  expect(severityOf({ ...pending, ageDays: 2 })).toBe('medium');
  expect(severityOf({ ...pending, ageDays: 3 })).toBe('high');
});

it.each<[DiscrepancyKind, number, Severity, Severity]>([
  ['missing_at_service', 3650, 'medium', 'medium'],
  ['amount_conflict', 3650, 'medium', 'medium'],
  ['unknown_outcome', 3, 'medium', 'high'],
  ['stale_pending', 3, 'medium', 'high'],
  ['returned_after_success', 3, 'medium', 'high'],
  ['webhook_conflict', 7, 'medium', 'high'],
  ['collection_missing', 7, 'medium', 'high'],
  ['webhook_missing', 7, 'low', 'medium'],
  ['fee_conflict', 30, 'low', 'medium'],
])(
  'of %s, while no money moved, is the day %i the first on which it is graver',
  (kind, day, before, then) => {
    const of = (ageDays: number) => severityOf({ kind, difference: '', moved: false, ageDays });
    expect([of(day - 1), of(day)]).toEqual([before, then]);
  },
);

it('below one unit of its currency a difference is medium at most, from one on it may be high', () => {
  const of = (difference: string) =>
    severityOf({ kind: 'amount_conflict', difference, moved: true, ageDays: 0 });
  expect(['-0.99', '0.99', '-1.00', '1', '1.5'].map(of)).toEqual([
    'medium',
    'medium',
    'high',
    'high',
    'high',
  ]);
});
