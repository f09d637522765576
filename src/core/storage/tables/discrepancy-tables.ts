import type { Generated } from 'kysely';
import type { DiscrepancyKind, Severity } from '../../domain/discrepancy-kinds.ts';
import type { DiscrepancyState, LifeEvent } from '../../domain/discrepancy-life.ts';

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
  /** Its severity from `graver_at` on; null where age changes nothing more. */
  later_severity: Severity | null;
  graver_at: string | null;
  evidence: string;
  /** What decides, beside the kind, what a person should do: JSON. */
  advice: string;
  state: DiscrepancyState;
  /** Who resolved it; null while it is not resolved. */
  resolved_by: 'evidence' | 'person' | null;
  /** The last remark: a person's words, what closed it, or why it was reopened. */
  note: string;
  reopened: Generated<bigint>;
  /** 1: a person closed it together with its payout, and it stays closed while the payout does (P32). */
  closed_with_payout: Generated<bigint>;
  /** When the listed transfer in question was created; null if unknown. */
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

/** Unexplained transfers of the last run that match the order of a payout under another reference. */
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
