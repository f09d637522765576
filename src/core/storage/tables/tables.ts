import type { Generated, Insertable, Selectable } from 'kysely';
import type { HistoryEvent } from '../../domain/history-event.ts';
import type { InquiryReason } from '../../domain/inquiry-reason.ts';
import type { AttemptOutcome } from '../../domain/outcome.ts';
import type { BatchState, PayoutState, WithheldBy, WitnessStatus } from '../../domain/payout.ts';
import type { WebhookRejectionKind } from '../../domain/rejection.ts';
import type { AlertTables } from './alert-tables.ts';
import type { BrakeTables, PrecheckState } from './brake-tables.ts';
import type { CollectionTables } from './collection-tables.ts';
import type { DiscrepancyTable, DiscrepancyTables } from './discrepancy-tables.ts';
import type { DoorTables } from './door-tables.ts';
import type { FileState, FileTables } from './file-tables.ts';
import type { JobTable } from './job-table.ts';
import type { ListedTable } from './listed-table.ts';
import type { PayeeColumns } from './payee-columns.ts';
import type { PeriodTables } from './period-tables.ts';
import type { RunTable, RunTables } from './run-tables.ts';
import type { LookUpOutcome, SaidColumns, WebhookOutcome } from './said-columns.ts';

/**
 * The ledger's tables. Every INTEGER is read as bigint; amounts are minor units of the row's currency. Every instant is
 * ISO 8601 text in UTC with milliseconds, so that text order is time order.
 */
export type Tables = AlertTables &
  BrakeTables &
  CollectionTables &
  DiscrepancyTables &
  DoorTables &
  FileTables &
  PeriodTables &
  RunTables & {
    meta: { key: string; value: string };
    /** The migrations that ran; this table belongs to Kysely. */
    kysely_migration: { name: string; timestamp: string };
    batches: BatchTable;
    payouts: PayoutTable;
    /** How many payouts of a batch are in a state, and their sum in minor units; kept by `core/ledger/totals.ts`. */
    payout_totals: { batch_id: string; currency: string; state: PayoutState; n: bigint; amount: bigint };
    attempts: AttemptTable;
    /** How many attempts ended in each way; kept by `core/ledger/totals.ts`. */
    attempt_totals: { outcome: NonNullable<AttemptTable['outcome']>; n: bigint };
    /** Where a request was sent: an address and the fingerprints of the keys (P31). */
    origins: { id: Generated<bigint>; base_url: string; secret_key: string; order_key: string };
    /** Asked as one origin, the service showed a transfer that was sent as another: both belong to one account. */
    same_accounts: { asked_as: bigint; sent_as: bigint; at: string };
    history: HistoryTable;
    webhooks: WebhookTable;
    /** Files beside the ledger that have what closed months no longer need here. `done_at` null: not in use yet. */
    archives: {
      id: Generated<bigint>;
      file: string;
      through_history: bigint;
      begun_at: string;
      done_at: string | null;
      sha256: Generated<string>;
    };
    archived_amounts: { archive_id: bigint; month: string; currency: string; line: string; amount: bigint };
    /** References of deleted webhooks that matched no payout, with the id of the last one. */
    unmatched_references: { reference_key: string; id: bigint };
    rejections: RejectionTable;
    inquiries: InquiryTable;
    listed: ListedTable;
    /** The causes of the halt in force; none where nothing halts. `detail` is the cause as JSON. */
    halts: { id: Generated<bigint>; at: string; kind: string; batch_id: string | null; detail: string };
    jobs: JobTable;
    workers: {
      id: string;
      kind: string;
      host: string;
      pid: bigint;
      lock_file: string;
      started_at: string;
      beat: bigint;
      ended_at: string | null;
    };
    /** A reserved start, and when it was reserved, both by the clock that all processes share. */
    rates: { name: string; next_at_ms: bigint; noted_at_ms: bigint };
  };

type BatchTable = {
  id: string;
  name: string;
  /** The file's name as dropped, without folders. */
  file_name: string;
  /** SHA-256 over the canonical parsed rows (P23). */
  content_hash: string;
  phase: 'loading' | 'loaded' | 'cancelled';
  /** JSON array of the header cells as they came. */
  columns: string;
  delimiter: string;
  row_count: bigint;
  /** JSON array: why the batch, or a part of it, is held. */
  hold_reasons: string;
  /** 1: a reason holds the whole batch, or its release is in progress. Nothing of it is claimed (P21). */
  held: Generated<bigint>;
  /** SHA-256 over the frozen bodies in row order (P2). */
  body_digest: string;
  created_at: string;
  /** `record` raises it with each change of a payout; results are due while it differs from `reported_version`. */
  version: Generated<bigint>;
  reported_version: Generated<bigint>;
  dropped_by: string;
  dropped_uid: Generated<bigint | null>;
  /** The account that the command ran as, where the person who dropped it used sudo; otherwise empty. */
  dropped_as: Generated<string>;
  dropped_as_uid: Generated<bigint | null>;
  /** 1: nothing of it is sent without an approval, even if the configuration changes. */
  approval_needed: Generated<bigint>;
  file_state: FileState;
  precheck: Generated<PrecheckState>;
  precheck_at: Generated<string | null>;
  /** Why the service gave no answer to the checks, while the batch waits for one. */
  precheck_wait: Generated<string | null>;
  /** The archive that has its files' cells, bodies and histories; null: this ledger has them. */
  archive_id: Generated<bigint | null>;
  /** SHA-256 over what identifies its payouts, from when it was archived; otherwise empty. */
  archived_digest: Generated<string>;
  /** The state that the newest event of the batch told; empty: it is from before there were events. */
  told_state: Generated<BatchState | ''>;
};

type PayoutTable = PayeeColumns & {
  id: Generated<bigint>;
  batch_id: string;
  /** The row in the file as a person counts it: the header is row 1, the first payout row 2. */
  row_number: bigint;
  reference: string;
  /** The reference in lower case; always unique (P22). */
  reference_key: string;
  account_number: string;
  account_name: string;
  bank_code: string;
  /** Minor units of `currency`. */
  amount: bigint;
  currency: string;
  narration: string;
  sender_name: string;
  type: string | null;
  /** The frozen request body: exactly the bytes that are signed and sent (P2). */
  body: string;
  /** JSON array of the row's input cells as they came, in the order of the batch's columns. */
  cells: string;
  state: PayoutState;
  attempt_count: Generated<bigint>;
  last_attempt_id: bigint | null;
  transfer_id: string | null;
  trx: string | null;
  /** The fee that was named first, as decimal text of the service; null while unknown. */
  fee: string | null;
  /** The sources that named this fee, such as `webhook+details`. */
  fee_by: string | null;
  /** JSON of the sources that name another fee now, such as `{"listing":"99.99"}`; null while all agree. */
  other_fees: string | null;
  message: string | null;
  /** The status that the service gave with this message; null for a message of ours or of a refusal. */
  message_of: WitnessStatus | null;
  submitted_at: string | null;
  settled_at: string | null;
  /** When a final state was first known. */
  final_at: string | null;
  /** Such as `response+webhook+listing+details`: the sources that agree with the state. */
  evidence: Generated<string>;
  /** Until when the service wants no further try of it, by the `Retry-After` of its last refusal. No date of payment. */
  turned_away_until: string | null;
  /** Why it is held though nobody held it; null for every other payout. */
  withheld_by: WithheldBy | null;
  /** The failed, refused or returned payout that this one pays again; each has at most one successor (P20). */
  successor_of: bigint | null;
  /** Its last history entry when it was archived; null: it is not archived. */
  archived_seq: Generated<bigint | null>;
  /** Sends that this ledger does not record but that may have happened (P25). */
  unseen_sends: Generated<bigint>;
  /** Automatic resends after confirmed absence: at most one (P16). */
  auto_resends: Generated<bigint>;
  /** The first run whose list and details showed this paid payout as failed, while that is not sure (P36); else null. */
  turned_run: Generated<string | null>;
  /** The day before which it is not sent, `YYYY-MM-DD` in `submission.timezone` (P38); empty: at once. */
  pay_on: Generated<string>;
  history_seq: Generated<bigint>;
  history_head: Generated<string>;
  updated_at: string;
};

type AttemptTable = {
  id: Generated<bigint>;
  payout_id: bigint;
  number: bigint;
  worker_id: string;
  began_at: string;
  ended_at: string | null;
  /** null while the POST is in flight. */
  outcome: AttemptOutcome['kind'] | null;
  http_status: bigint | null;
  code: string | null;
  message: string | null;
  transfer_id: string | null;
  /** The reply's text, at most 4 KiB. */
  raw: string | null;
  /** Our clock less the service's when it began, in ms; null: not known. */
  clock_off_ms: Generated<bigint | null>;
  /** The day of `daily_limit` that counts it. */
  day_id: bigint;
  /** Where it went; 0: not recorded. */
  origin_id: Generated<bigint>;
};

type HistoryTable = {
  id: Generated<bigint>;
  payout_id: bigint;
  seq: bigint;
  at: string;
  event: HistoryEvent;
  source: string;
  from_state: PayoutState | null;
  to_state: PayoutState;
  /** JSON object: what else changed and why. */
  detail: string;
  /** Of the entry before it, where only an archive has that; else null. */
  prev_hash: string | null;
  hash: string;
};

type WebhookTable = {
  id: Generated<bigint>;
  /** SHA-256 of the raw body: byte-equal repeats are one webhook with several deliveries (P18). */
  digest: string;
  received_at: string;
  last_received_at: string;
  deliveries: bigint;
  /** `payout`, `transaction` or `unknown`. */
  kind: string;
  reference: string | null;
  trx: string | null;
  /** JSON object; Authorization is replaced by its verdict. */
  headers: string;
  body: Uint8Array;
  /** 1: the timestamp header was stale or in the future, so it is a reason for a look-up, not a witness. */
  stale: bigint;
  applied_at: string | null;
  payout_id: bigint | null;
  collection_id: bigint | null;
  /** What applying it found; null while it is not applied. Archives have it under this name. */
  verdict: WebhookOutcome | null;
} & SaidColumns;

type RejectionTable = {
  id: Generated<bigint>;
  at: string;
  path: string;
  kind: WebhookRejectionKind;
  /** What the sender sent, for people. */
  detail: string;
  address: string;
};

type InquiryTable = {
  id: Generated<bigint>;
  payout_id: bigint;
  kind: 'details';
  reason: InquiryReason;
  due_at: string;
  /** The rung of the ladder, from 0. */
  rung: bigint;
  /** When the ladder is due to ask (P19), although other causes may ask earlier; null: not a rung. */
  rung_due_at: string | null;
  /** How often it was requested again while it was open. */
  raised: Generated<bigint>;
  /** The payout's last attempt at the time of the look-up (P4). */
  attempt_id: bigint | null;
  /** Our clock less the service's Date header; null without a Date. */
  clock_off_ms: bigint | null;
  /** A transfer known to exist that the same key found before and after (P16). */
  probe: string | null;
  asked_at: string | null;
  answered_at: string | null;
  /** null while due. */
  outcome: LookUpOutcome | null;
  /** The last entry of the payout's history when it was answered, its own included; null while due. */
  history_seq: Generated<bigint | null>;
  /** The newest webhook when it was asked: an answer may settle that one and older ones, never a later one (P33). */
  webhook_mark: Generated<bigint>;
  /** The reply's text, at most 4 KiB. */
  raw: string | null;
  /** Where it was asked; 0: not recorded. */
  origin_id: Generated<bigint>;
  /** The process that asks it, while it is due; null: none. */
  worker_id: Generated<string | null>;
} & SaidColumns;

export type Batch = Selectable<BatchTable>;
export type Payout = Selectable<PayoutTable>;
export type NewPayout = Insertable<PayoutTable>;
export type Attempt = Selectable<AttemptTable>;
export type HistoryRow = Selectable<HistoryTable>;
export type Webhook = Selectable<WebhookTable>;
export type Inquiry = Selectable<InquiryTable>;
export type Run = Selectable<RunTable>;
export type Listed = Selectable<ListedTable>;
export type Discrepancy = Selectable<DiscrepancyTable>;
