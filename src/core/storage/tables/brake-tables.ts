import type { Generated } from 'kysely';

/** What holds payouts back, and what was spent each day. */
export type BrakeTables = {
  approvals: ApprovalTable;
  /** Decisions of people to send new batches without a complete list (P25, P32); `at` is ISO UTC. */
  waived_listings: {
    id: Generated<bigint>;
    at: string;
    decided_by: string;
    note: string;
    /** What the list that was read did not prove, as the person saw it. */
    not_proven: string;
  };
  /** A batch's totals at intake, in minor units. */
  batch_totals: { batch_id: string; currency: string; amount: bigint };
  canaries: CanaryTable;
  /** How a batch differs from the last of its series. `found`: JSON; `digest`: of its changes, empty for none (P37). */
  payee_comparisons: { batch_id: string; digest: string; found: string };
  /** What a payout has in the columns of `intake.unique_columns`, folded. */
  payout_values: { column_key: string; value: string; payout_id: bigint };
  /** Whose accounts these are, as the service said before payment. `name`: null where it knows no such account. */
  account_names: {
    batch_id: string;
    bank_code: string;
    account_number: string;
    name: string | null;
    message: string;
  };
  /** The days of `daily_limit`, in the order in which the ledger reached them. */
  limit_days: LimitDayTable;
  /** What a day's attempts may have sent, in minor units. */
  limit_uses: { day_id: bigint; currency: string; used: bigint };
  /** Amounts that a lost copy of the ledger may have sent on that day, in minor units; written by an adoption (P25). */
  adopted_uses: { adopted_at: string; currency: string; used: bigint };
};

/**
 * What the extras found about a batch before its first payout: `service.extras` of the configuration.
 *
 * - `due`: nobody has looked
 * - `named`: the account names agree
 * - `clear`: nothing speaks against it, as of `precheck_at`
 * - `held`: something does
 * - `accepted`: a person released it nevertheless
 * - `begun`: a payout was claimed, and checks have ended
 */
export type PrecheckState = 'due' | 'named' | 'clear' | 'held' | 'accepted' | 'begun';

type ApprovalTable = {
  id: Generated<bigint>;
  batch_id: string;
  /** The batch's `body_digest` when it was approved (P2). */
  bodies: string;
  /** SHA-256 over `bodies` and the bodies of its successors: what the person approved. */
  digest: string;
  /** The newest payout that it covers. Payouts added to the batch later need an approval of their own. */
  through_id: bigint;
  row_count: bigint;
  /** JSON object: decimals per currency, as the person saw them. */
  totals: string;
  approved_by: string;
  approved_at: string;
};

type LimitDayTable = {
  id: Generated<bigint>;
  /** Its date in the time zone of that time, for people. */
  day: string;
  opened_at: string;
  begins_at: string;
  ends_at: string;
};

type CanaryTable = {
  batch_id: string;
  /** Its payouts are those of the batch between these two ids, both included. */
  from_id: bigint;
  through_id: bigint;
  /** Of these, the ones whose `pay_on` is this day or an earlier one: what could go when it began (P38). */
  day: Generated<string>;
  /** 0: without those that waited for an approval of their row when it began (P37). */
  marked: Generated<bigint>;
  state: 'open' | 'passed' | 'failed' | 'released';
  started_at: string;
  ended_at: string | null;
};
