import type { Generated } from 'kysely';
import type { ListOrder } from '../../domain/list-order.ts';
import type { ListStanding, Verdict } from '../../domain/verdict.ts';

/** Reconciliations: the standing of their listings, their verdicts, and the rows of their reports. */
export type RunTables = {
  runs: RunTable;
  run_verdicts: RunVerdictTable;
  /** The batches that the newest run stated, each with its version then: one of another version has changed since. */
  compared_batches: { batch_id: string; run_id: string; version: bigint };
  run_rows: RunRowTable;
};

export type RunTable = {
  id: string;
  started_at: string;
  /** When all that its listing means was recorded; null before. */
  finished_at: string | null;
  /** JSON: what `reconcile --json` prints; null before its figures are frozen. */
  summary: string | null;
  /** The newest history entry when the run began to read the listing. */
  history_mark: bigint;
  /** The newest webhook when the run began to read the listing. */
  webhook_mark: Generated<bigint>;
  /** The order in which a complete listing showed its rows; `distrusted`: a short cut has missed rows since (P29). */
  list_order: Generated<ListOrder | 'distrusted' | null>;
  /** The instant up to which the listing is proven, ISO UTC; null when it is not. */
  list_cut: Generated<string | null>;
  /** The instant from which a short cut looked, ISO UTC (P29); null in all other runs. */
  edge: Generated<string | null>;
  /** The complete run whose rows created before `edge` stand for the part that the short cut skipped. */
  base_run_id: Generated<string | null>;
  /** How far the listing can be trusted; null while the run goes on, and where it ended early. */
  list_standing: Generated<ListStanding | null>;
  /** The worst verdict over its currencies, stored with its frozen statement; null before. */
  verdict: Generated<Verdict | null>;
  /** Whose listing it read (P31), of `origins`; 0 where that was not recorded. */
  origin_id: Generated<bigint>;
  /** How large the ledger was when it finished; null where that was not recorded. */
  ledger_bytes: Generated<bigint | null>;
  /** Its number among the frozen runs, 1 for the first; null before its figures are frozen. */
  frozen: Generated<bigint | null>;
  /** The archive that has the rows of its reports; null: this ledger has them. */
  archive_id: Generated<bigint | null>;
  /** 1: its reports are due and not written yet (P34). */
  reports_due: Generated<bigint>;
};

/** A row of a report. It belongs to the frozen runs from number `since` until, and without, number `until`. */
type RunRowTable = {
  sheet: string;
  position: bigint;
  since: bigint;
  /** Null: it belongs to every run since. */
  until: bigint | null;
  /** JSON: an array of texts. */
  cells: string;
};

type RunVerdictTable = {
  run_id: string;
  currency: string;
  verdict: Verdict;
  /** How many payouts are paid here and failed on the listing. */
  overturned: bigint;
};
