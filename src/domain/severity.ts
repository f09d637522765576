import Big from 'big.js';
import type { DiscrepancyKind } from './discrepancy.ts';

export type Severity = 'high' | 'medium' | 'low';

/** The facts that decide a discrepancy's severity; `difference` as in its column, empty where there is none. */
export type Gravity = {
  kind: DiscrepancyKind;
  difference: string;
  /** Money may have moved wrongly or twice; false if the transfer in question failed, or is still watched. */
  moved: boolean;
  ageDays: number;
};

/** From `afterDays` on it is one step graver, up to `most`; null: age changes nothing. */
type Rule = { moved: Severity; still: Severity; most: Severity; afterDays: number | null };

const wrongMoney: Rule = { moved: 'high', still: 'medium', most: 'high', afterDays: null };

const rules: Record<DiscrepancyKind, Rule> = {
  paid_twice: { ...wrongMoney, still: 'high' },
  beneficiary_conflict: wrongMoney,
  duplicate_at_service: wrongMoney,
  missing_in_ledger: wrongMoney,
  missing_at_service: wrongMoney,
  status_conflict: wrongMoney,
  amount_conflict: wrongMoney,
  currency_conflict: wrongMoney,
  mode_conflict: wrongMoney,
  reference_collision: wrongMoney,
  collection_conflict: wrongMoney,
  unknown_outcome: { ...wrongMoney, afterDays: 3 },
  // Nobody has this money wrongly, but somebody waits for it: a long delay is grave.
  stale_pending: { moved: 'medium', still: 'medium', most: 'high', afterDays: 3 },
  returned_after_success: { moved: 'medium', still: 'medium', most: 'high', afterDays: 3 },
  collection_missing: { moved: 'medium', still: 'medium', most: 'high', afterDays: 7 },
  webhook_conflict: { moved: 'medium', still: 'medium', most: 'high', afterDays: 7 },
  webhook_missing: { moved: 'low', still: 'low', most: 'medium', afterDays: 7 },
  fee_conflict: { moved: 'low', still: 'low', most: 'medium', afterDays: 30 },
};

const steps: readonly Severity[] = ['low', 'medium', 'high'];

/**
 * The severity of a discrepancy by kind, amount and age. A difference below one unit of its currency is never high,
 * except for `paid_twice`.
 */
export function severityOf({ kind, difference, moved, ageDays }: Gravity): Severity {
  const rule = rules[kind];
  const aged = rule.afterDays !== null && ageDays >= rule.afterDays;
  const small = kind !== 'paid_twice' && isBelowOne(difference);
  const step = steps.indexOf(moved ? rule.moved : rule.still) + (aged ? 1 : 0);
  const most = Math.min(steps.indexOf(rule.most), small ? 1 : 2);
  return steps[Math.min(step, most)] ?? 'high';
}

/** The age in days from which this kind is one step graver; null where age changes nothing. */
export function graverAfterDays(kind: DiscrepancyKind): number | null {
  return rules[kind].afterDays;
}

function isBelowOne(difference: string): boolean {
  return /^-?\d{1,40}(\.\d{1,40})?$/.test(difference) && new Big(difference).abs().lt(1);
}
