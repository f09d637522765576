import Big from 'big.js';
import { type DiscrepancyKind, kindRules, type Severity, severities } from './discrepancy-kinds.ts';

/** The facts that decide a discrepancy's severity; `difference` as in its column, empty where there is none. */
export type Gravity = {
  kind: DiscrepancyKind;
  difference: string;
  /** Money may have moved wrongly or twice; false if the transfer in question failed, or is still watched. */
  moved: boolean;
  ageDays: number;
};

const steps = severities.toReversed();

/** How grave a discrepancy is, by kind, amount and age. Below one unit of its currency only an urgent kind is high. */
export function severityOf({ kind, difference, moved, ageDays }: Gravity): Severity {
  const { rating } = kindRules[kind];
  const aged = rating.afterDays !== null && ageDays >= rating.afterDays;
  const small = !rating.urgent && isBelowOne(difference);
  const step = steps.indexOf(moved ? rating.moved : rating.still) + Number(aged);
  const most = Math.min(steps.indexOf(rating.most), steps.indexOf(small ? 'medium' : 'high'));
  return steps[Math.min(step, most)] ?? 'high';
}

function isBelowOne(difference: string): boolean {
  return /^-?\d{1,40}(\.\d{1,40})?$/.test(difference) && new Big(difference).abs().lt(1);
}
