import type { Selectable } from 'kysely';

/** The tables of closed months (P30). */
export type PeriodTables = {
  periods: PeriodTable;
  period_rows: { month: string; sheet: string; position: bigint; cells: string };
  /** Listed transfers that a closed month has counted, so that no later month counts them. */
  period_transfers: { transfer_id: string; month: string };
};

/** A closed month: the history entries after `from_history` up to `through_history`. It never changes. */
type PeriodTable = {
  /** `2026-10`. */
  month: string;
  starts_at: string;
  /** Exclusive; the next month starts here. */
  ends_at: string;
  timezone: string;
  from_history: bigint;
  through_history: bigint;
  closed_at: string;
  /** The account name of the person who closed it. */
  closed_by: string;
  /** The run whose listing the month was compared with; null if there was none. */
  run_id: string | null;
  /** SHA-256 over the cuts and every frozen row. */
  digest: string;
};

export type Period = Selectable<PeriodTable>;
