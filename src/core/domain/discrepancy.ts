import Big from 'big.js';
import type { DiscrepancyKind } from './discrepancy-kinds.ts';
import type { Origin } from './origin.ts';

export type FoundFields = {
  payoutId: bigint | null;
  batchId: string | null;
  reference: string;
  trx: string | null;
  transferId: string | null;
  currency: string;
  expected: string;
  actual: string;
  /** Actual minus expected as decimal text where money can differ, otherwise empty. */
  difference: string;
  /** Whether money may have moved wrongly or twice. With kind, difference and age it decides the severity. */
  moved: boolean;
  /** When the listed transfer in question was created, ISO UTC; absent or empty if unknown. */
  shownAt?: string;
  evidence: string;
};

/** What decides, beside the kind, what a person should do. */
export type AdviceFacts = {
  /** An unknown: until when it is watched, ISO UTC, and whether that was over when the run found it (P19). */
  watched?: { until: string; isOver: boolean };
  /** Where a pending payout went, and the other account that is asked, which cannot say how it ended (P31). */
  elsewhere?: { went: Origin; own: Origin };
  /** Another account than the payout's shows the transfer (P31). */
  otherAccount?: true;
  /** What it may be under another reference: transfers of a payout, or payouts of a transfer. */
  alikes?: string[];
  /** How many transfers of one payout the service shows. */
  transfers?: number;
};

/** One discrepancy as a run finds it; identity over runs is kind + subject. */
export type FoundDiscrepancy = FoundFields & { kind: DiscrepancyKind; subject: string; advice: AdviceFacts };

export function finding(
  kind: DiscrepancyKind,
  subject: string,
  fields: FoundFields,
  advice: AdviceFacts = {},
): FoundDiscrepancy {
  return { kind, subject, ...fields, advice };
}

/** `actual - expected`, exact, with the longer fraction of the two; empty where either is not a plain decimal. */
export function decimalDifference(actual: string, expected: string): string {
  const plain = /^-?\d{1,40}(\.\d{1,40})?$/;
  if (!plain.test(actual) || !plain.test(expected)) return '';
  const digits = Math.max(fractionOf(actual), fractionOf(expected));
  return new Big(actual)
    .minus(expected)
    .toFixed(digits)
    .replace(/^-(?=[0.]+$)/, '');
}

function fractionOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}
