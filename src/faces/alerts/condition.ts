import type { AlertKind } from '../../core/domain/alert-kinds.ts';

/** Something that people must know, as long as it lasts. It holds counts, totals and our own names, and nothing else. */
export type Condition = {
  kind: AlertKind;
  /** The halt's cause, the discrepancy's kind, the batch, the job, the machine, or how files were rejected; empty where there can be only one. */
  subject: string;
  /** How many cases; for a certificate the days left, for a disk the free MiB. */
  count: number;
  /** The newest id of what it is about: a greater one is a new case. */
  mark: bigint;
  /** Decimals by currency, where payouts are concerned. */
  totals: Record<string, string>;
  /** Up to five references, discrepancies, batches or files. */
  names: string[];
};

export const mostNames = 5;

export function plainCondition(kind: AlertKind, subject: string, count = 1): Condition {
  return { kind, subject, count, mark: 0n, totals: {}, names: [] };
}
