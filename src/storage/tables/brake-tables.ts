import type { Generated } from 'kysely';

/** What keeps payouts from going out, and what was spent of a day. */
export type BrakeTables = {
  approvals: ApprovalTable;
  /** What a batch came to when it was taken in, in minor units. */
  batch_totals: { batch_id: string; currency: string; amount: bigint };
  canaries: CanaryTable;
  /** The days of `daily_limit`, in the order in which the ledger came to them. */
  limit_days: LimitDayTable;
  /** What intents of a day may have sent, in minor units. */
  limit_uses: { day_id: bigint; currency: string; used: bigint };
  /** What an adoption made unknown (P25), in minor units: a lost copy may have sent it on that day. */
  adopted_uses: { adopted_at: string; currency: string; used: bigint };
};

type ApprovalTable = {
  id: Generated<bigint>;
  batch_id: string;
  /** The batch's `body_digest` when it was approved (P2). */
  bodies: string;
  /** SHA-256 over `bodies` and the bodies of its successors: what the person agreed to. */
  digest: string;
  /** The newest payout that it covers; what was added to the batch later needs an approval of its own. */
  through_id: bigint;
  row_count: bigint;
  /** JSON object: decimals per currency, as they were shown. */
  totals: string;
  approved_by: string;
  approved_at: string;
};

type LimitDayTable = {
  id: Generated<bigint>;
  /** Its date in the time zone of then, for people. */
  day: string;
  opened_at: string;
  begins_at: string;
  ends_at: string;
};

type CanaryTable = {
  batch_id: string;
  /** Its payouts are those of the batch from the one to the other. */
  from_id: bigint;
  through_id: bigint;
  state: 'open' | 'passed' | 'failed' | 'released';
  started_at: string;
  ended_at: string | null;
};
