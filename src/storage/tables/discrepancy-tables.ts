import type { Generated } from 'kysely';
import type { DiscrepancyKind, Severity } from '../../domain/discrepancy-kinds.ts';
import type { LifeEvent } from '../../domain/discrepancy-life.ts';

/** What runs find and people work through. */
export type DiscrepancyTables = {
  discrepancies: DiscrepancyTable;
  discrepancy_events: DiscrepancyEventTable;
  look_alikes: LookAlikeTable;
};

export type DiscrepancyTable = {
  id: string;
  kind: DiscrepancyKind;
  /** What it is about: a payout's reference, or `transfer:ID`. Identity over runs is kind + subject. */
  subject: string;
  payout_id: bigint | null;
  batch_id: string | null;
  reference: string;
  trx: string | null;
  transfer_id: string | null;
  currency: string;
  expected: string;
  actual: string;
  difference: string;
  severity: Severity;
  /** What its severity becomes at `graver_at`; null where age changes nothing any more. */
  later_severity: Severity | null;
  graver_at: string | null;
  evidence: string;
  /** What decides, beside the kind, what a person should do: JSON. */
  advice: string;
  state: 'open' | 'acknowledged' | 'resolved';
  /** Who ended it; null while it is not resolved. */
  resolved_by: 'evidence' | 'person' | null;
  /** What was last said of it: a person's words, what closed it, or why it is open again. */
  note: string;
  /** How often it came back after it was closed. */
  reopened: Generated<bigint>;
  /** 1: the person's word on it came with the close of its payout, and holds while that does (P32). */
  closed_with_payout: Generated<bigint>;
  /** When the listed transfer was created that it is about; null where nobody knows. */
  shown_at: string | null;
  first_seen_at: string;
  last_seen_at: string;
  last_run_id: string;
  resolved_at: string | null;
};

/** The whole life of a discrepancy, append-only. */
type DiscrepancyEventTable = {
  id: Generated<bigint>;
  discrepancy_id: string;
  at: string;
  event: LifeEvent;
  /** `run RUN` or `person:NAME`. */
  source: string;
  note: string;
};

/** Transfers of the last run that no payout explains but one resembles: another reference, the same order. */
type LookAlikeTable = {
  run_id: string;
  account_number: string;
  amount: bigint;
  currency: string;
  bank_code: string;
  created_at: string;
  transfer_id: string;
  reference: string;
  status: string;
};
