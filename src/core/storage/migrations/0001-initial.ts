import { type Kysely, sql } from 'kysely';
import {
  alertChannels,
  alertKinds,
  answers,
  fileStates,
  haltKinds,
  historyEvents,
  inquiryReasons,
  precheckStates,
  rejectionKinds,
  standings,
  states,
  statuses,
  verdicts,
  webhookVerdicts,
  withComparisons,
} from './0001-allowed-values.ts';
import {
  archiveGuards,
  archiveTables,
  fileTables,
  limits,
  periodTables,
  strangerTables,
  totals,
  waivedListings,
} from './0001-parts.ts';

const statements = [
  `create table meta (key text primary key not null, value text not null) strict`,
  ...archiveTables,
  `create table batches (
    id text primary key not null, name text not null, file_name text not null, content_hash text not null,
    phase text not null check (phase in ('loading','loaded','cancelled')), columns text not null,
    delimiter text not null, row_count integer not null, hold_reasons text not null,
    held integer not null default 0 check (held in (0, 1)), body_digest text not null,
    created_at text not null, version integer not null default 0, reported_version integer not null default -1,
    dropped_by text not null, dropped_uid integer, dropped_as text not null default '',
    dropped_as_uid integer, approval_needed integer not null default 0 check (approval_needed in (0, 1)),
    file_state text not null check (file_state in (${fileStates})),
    precheck text not null default 'due' check (precheck in (${precheckStates})), precheck_at text, precheck_wait text,
    archive_id integer references archives (id), archived_digest text not null default '') strict`,
  `create unique index batches_content on batches (content_hash)`,
  `create index batches_files on batches (file_state) where file_state in ('due','whole','changed','missing')`,
  `create index batches_holding on batches (id) where phase = 'loaded' and hold_reasons <> '[]'`,
  `create table batch_totals (
    batch_id text not null references batches (id), currency text not null, amount integer not null,
    primary key (batch_id, currency)) strict, without rowid`,
  ...totals,
  ...limits,
  ...waivedListings,
  `create table origins (
    id integer primary key, base_url text not null, secret_key text not null, order_key text not null) strict`,
  `create unique index origins_unique on origins (base_url, secret_key, order_key)`,
  `create table origin_sights (
    seen_by integer not null, origin_id integer not null, at text not null, primary key (seen_by, origin_id)) strict`,
  `create table payouts (
    id integer primary key, batch_id text not null references batches (id), row_number integer not null,
    reference text not null, reference_key text not null, account_number text not null, account_name text not null,
    bank_code text not null, amount integer not null check (amount > 0), currency text not null,
    narration text not null, sender_name text not null, type text, body text not null, cells text not null,
    state text not null check (state in (${states})), attempt_count integer not null default 0,
    last_attempt_id integer, transfer_id text, trx text, fee text, fee_by text, other_fees text,
    message text, message_of text, submitted_at text, settled_at text, final_at text,
    evidence text not null default '', turned_away_until text,
    withheld_by text check (withheld_by in ('list','details','webhook','predecessor','limit','answer')), history_seq integer not null default 0,
    history_head text not null default '', updated_at text not null, successor_of integer references payouts (id),
    unseen_sends integer not null default 0, auto_resends integer not null default 0, archived_seq integer,
    turned_run text) strict`,
  `create unique index payouts_reference on payouts (reference_key)`,
  `create index payouts_batch on payouts (batch_id, row_number)`,
  `create index payouts_state on payouts (state, id)`,
  `create index payouts_likeness on payouts (account_number, currency, amount)`,
  `create unique index payouts_successor on payouts (successor_of) where successor_of is not null`,
  `create index payouts_other_fees on payouts (id) where other_fees is not null`,
  `create trigger payouts_body_frozen before update of body on payouts
    when old.body is not new.body and old.history_seq > 0 and old.state in ('held','ready','sending','unknown')
    begin select raise(abort, 'the body of a payout is frozen at intake'); end`,
  ...archiveGuards,
  // The state comes first although it is always `ready`: else SQLite prefers the index on states, and sorts.
  `create index payouts_ready on payouts (state, batch_id, currency, id) where state = 'ready'`,
  // A payout enters these two indexes when its transfer id or trx is known.
  `create index payouts_transfer on payouts (transfer_id) where transfer_id is not null`,
  `create index payouts_trx on payouts (trx) where trx is not null`,
  // Paid payouts that the service shows as failed, until that is sure (P36); there are few.
  `create index payouts_turned on payouts (id) where turned_run is not null`,
  // Repeated sends and successors, which need an answer of the service first. First sends are not among them.
  `create index payouts_again on payouts (id)
    where state = 'ready' and (submitted_at is not null or unseen_sends > 0 or successor_of is not null)`,
  `create table attempts (
    id integer primary key, payout_id integer not null references payouts (id), number integer not null,
    worker_id text not null, began_at text not null, ended_at text,
    outcome text check (outcome in ('accepted','refused','not_sent','turned_away','unknown')), http_status integer,
    code text, message text, transfer_id text, raw text, day_id integer not null references limit_days (id),
    origin_id integer not null default 0, clock_off_ms integer) strict`,
  `create unique index attempts_payout on attempts (payout_id, number)`,
  `create index attempts_open on attempts (worker_id) where outcome is null`,
  // An entry follows the hash of the entry before it. `prev_hash` repeats that only where an archive has the entry before.
  `create table history (
    id integer primary key, payout_id integer not null references payouts (id), seq integer not null,
    at text not null, event text not null check (event in (${historyEvents})), source text not null,
    from_state text,
    to_state text not null check (to_state in (${states})), detail text not null, prev_hash text,
    hash text not null) strict`,
  `create unique index history_payout on history (payout_id, seq)`,
  `create trigger history_no_update before update on history
    begin select raise(abort, 'history is append-only'); end`,
  `create trigger history_no_delete before delete on history
    begin select raise(abort, 'history is append-only'); end`,
  `create index history_retry on history (payout_id) where event = 'retry'`,
  `create table approvals (
    id integer primary key, batch_id text not null references batches (id), bodies text not null,
    digest text not null, through_id integer not null, row_count integer not null, totals text not null,
    approved_by text not null, approved_at text not null) strict`,
  `create index approvals_batch on approvals (batch_id, through_id)`,
  `create trigger approvals_no_update before update on approvals
    begin select raise(abort, 'an approval is never changed'); end`,
  `create trigger approvals_no_delete before delete on approvals
    begin select raise(abort, 'an approval is never taken back'); end`,
  `create table canaries (
    batch_id text primary key not null references batches (id), from_id integer not null, through_id integer not null,
    state text not null check (state in ('open','passed','failed','released')), started_at text not null,
    ended_at text) strict`,
  `create index canaries_standing on canaries (state)`,
  `create table halts (
    id integer primary key, at text not null, kind text not null check (kind in (${haltKinds})),
    batch_id text references batches (id), detail text not null) strict`,
  `create table collection_files (
    id text primary key not null, file_name text not null, content_hash text not null,
    phase text not null check (phase in ('loading','loaded')), row_count integer not null,
    created_at text not null) strict`,
  `create unique index collection_files_content on collection_files (content_hash)`,
  `create table collections (
    id integer primary key, reference text not null, reference_key text not null,
    state text not null check (state in ('expected','heard','received','failed','conflict')),
    file_id text references collection_files (id), row_number integer,
    expected_amount integer check (expected_amount > 0), expected_currency text, expected_at text, heard_at text,
    told_status text, told_trx text, told_amount text, told_currency text, told_domain text, told_fee text,
    told_paid_at text, dispute text not null default '[]', verified_at text, verified_status text, verified_trx text,
    verified_amount text, verified_currency text, verified_domain text, verified_fee text, verified_paid_at text,
    received_at text, trx text, ask_at text, rung integer not null default 0, raised integer not null default 0,
    answered_at text, answer text, updated_at text not null) strict`,
  `create unique index collections_reference on collections (reference_key)`,
  `create index collections_trx on collections (trx) where trx is not null`,
  `create index collections_state on collections (state, id)`,
  `create index collections_due on collections (ask_at) where ask_at is not null`,
  `create index collections_file on collections (file_id) where file_id is not null`,
  `create table collection_look_ups (
    id integer primary key, collection_id integer not null references collections (id), asked_at text not null,
    answered_at text not null, outcome text not null, raw text) strict`,
  `create index collection_look_ups_collection on collection_look_ups (collection_id, id)`,
  `create table webhooks (
    id integer primary key, digest text not null, received_at text not null, last_received_at text not null,
    deliveries integer not null, kind text not null, reference text, trx text, headers text not null,
    body blob not null, stale integer not null, applied_at text, payout_id integer references payouts (id),
    collection_id integer references collections (id), verdict text check (verdict in (${webhookVerdicts})),
    said text check (said in (${statuses})), against text check (against in (${states})),
    differences text) strict`,
  `create index webhooks_unapplied on webhooks (id) where applied_at is null`,
  `create index webhooks_collection on webhooks (collection_id) where collection_id is not null`,
  // Deliveries arrive about in the order of their payouts, while digests are random. With the reference first, a
  // group's entries are neighbours, and each commit writes a third of the pages.
  `create unique index webhooks_digest on webhooks (coalesce(reference, ''), digest)`,
  // Webhooks that are not applied yet have no payout and need no entry here.
  `create index webhooks_payout on webhooks (payout_id) where payout_id is not null`,
  // Payout webhooks that matched no payout, by their reference in lower case; there are few.
  `create index webhooks_unmatched on webhooks (lower(reference))
    where payout_id is null and applied_at is not null and kind = 'payout'`,
  ...strangerTables,
  `create table rejections (
    id integer primary key, at text not null, path text not null,
    kind text not null check (kind in (${rejectionKinds})), detail text not null, address text not null) strict`,
  `create table inquiries (
    id integer primary key, payout_id integer not null references payouts (id),
    kind text not null check (kind = 'details'), reason text not null check (reason in (${inquiryReasons})),
    due_at text not null, rung integer not null, asked_at text, answered_at text,
    outcome text check (outcome in (${answers})), said text check (said in (${statuses})),
    against text check (against in (${states})), differences text, raw text, rung_due_at text,
    raised integer not null default 0,
    attempt_id integer, clock_off_ms integer, probe text, history_seq integer,
    origin_id integer not null default 0, webhook_mark integer not null default 0, worker_id text) strict`,
  `create unique index inquiries_due on inquiries (payout_id, kind) where outcome is null`,
  `create index inquiries_due_at on inquiries (kind, due_at) where outcome is null`,
  `create index inquiries_payout on inquiries (payout_id, id)`,
  `create index inquiries_conflict on inquiries (payout_id, id)
    where kind = 'details' and outcome in ('against_ledger', 'differs')`,
  `create table resend_requests (
    id integer primary key, payout_id integer references payouts (id),
    collection_id integer references collections (id), reason text not null, due_at text not null, asked_at text,
    answered_at text, outcome text check (outcome in ('asked','refused','error','no_answer','heard','dropped')),
    raw text, check ((payout_id is null) <> (collection_id is null))) strict`,
  `create unique index resend_requests_payout_open on resend_requests (payout_id)
    where outcome is null and payout_id is not null`,
  `create unique index resend_requests_collection_open on resend_requests (collection_id)
    where outcome is null and collection_id is not null`,
  `create index resend_requests_due on resend_requests (due_at) where outcome is null`,
  `create index resend_requests_payout on resend_requests (payout_id, id) where payout_id is not null`,
  `create index resend_requests_collection on resend_requests (collection_id, id) where collection_id is not null`,
  `create table runs (
    id text primary key not null, started_at text not null, finished_at text, summary text, history_mark integer not null,
    list_order text check (list_order in ('newest_first','oldest_first','other','distrusted')), list_cut text,
    edge text, base_run_id text references runs (id),
    reports_due integer not null default 0 check (reports_due in (0, 1)),
    list_standing text check (list_standing in (${standings})),
    verdict text check (verdict in (${verdicts})), origin_id integer not null default 0,
    webhook_mark integer not null default 0, ledger_bytes integer, frozen integer,
    archive_id integer references archives (id)) strict`,
  `create unique index runs_frozen on runs (frozen) where frozen is not null`,
  `create index runs_reports_due on runs (id) where reports_due = 1`,
  // A row belongs to the frozen runs from the number `since` until, and without, the number `until`.
  `create table run_rows (
    sheet text not null, position integer not null, since integer not null, until integer, cells text not null,
    primary key (sheet, position, since)) strict, without rowid`,
  `create index run_rows_open on run_rows (sheet, position) where until is null`,
  `create table run_verdicts (
    run_id text not null references runs (id), currency text not null,
    verdict text not null check (verdict in (${verdicts})), overturned integer not null,
    primary key (run_id, currency)) strict`,
  `create table compared_batches (
    batch_id text not null references batches (id), run_id text not null references runs (id),
    version integer not null, primary key (batch_id)) strict, without rowid`,
  // Rows are stored in arrival order with as few indexes as possible: a million are written every night. A row is found
  // by reference through its payout, or by `stray_key` where no payout has that reference. `payout_id` has no foreign
  // key: that would need an index of its own whenever payouts are deleted. The writers keep it valid.
  `create table listed (
    run_id text not null references runs (id), transfer_id text not null, trx text, reference text not null,
    reference_key text not null, currency text not null, amount integer, amount_text text not null, fee text,
    account_name text not null, account_number text not null, bank_code text not null, domain text,
    status text not null, created_at text not null, updated_at text not null, pass integer not null,
    payout_id integer, stray_key text, print integer, primary key (run_id, transfer_id)) strict`,
  `create index listed_payout on listed (run_id, payout_id, transfer_id)`,
  `create index listed_stray on listed (run_id, stray_key, transfer_id) where stray_key is not null`,
  `create table look_alikes (
    run_id text not null references runs (id), account_number text not null, amount integer not null,
    currency text not null, bank_code text not null, created_at text not null, transfer_id text not null,
    reference text not null, status text not null,
    primary key (run_id, account_number, amount, currency, bank_code, created_at, transfer_id)) strict, without rowid`,
  `create table discrepancies (
    id text primary key not null,
    kind text not null check (kind in (
      'missing_at_service','missing_in_ledger','status_conflict','amount_conflict','currency_conflict',
      'beneficiary_conflict','fee_conflict','mode_conflict','duplicate_at_service','paid_twice','stale_pending',
      'unknown_outcome','webhook_missing','webhook_conflict','returned_after_success','reference_collision',
      'collection_missing','collection_conflict')),
    subject text not null, payout_id integer references payouts (id), batch_id text, reference text not null, trx text, transfer_id text,
    currency text not null, expected text not null, actual text not null, difference text not null,
    severity text not null, evidence text not null, advice text not null,
    state text not null check (state in ('open','acknowledged','resolved')), note text not null,
    first_seen_at text not null, last_seen_at text not null, last_run_id text not null, resolved_at text,
    resolved_by text check (resolved_by in ('evidence','person')), reopened integer not null default 0, shown_at text,
    later_severity text, graver_at text,
    closed_with_payout integer not null default 0 check (closed_with_payout in (0,1))) strict`,
  `create unique index discrepancies_subject on discrepancies (kind, subject)`,
  `create index discrepancies_state on discrepancies (state, kind)`,
  `create index discrepancies_payout on discrepancies (payout_id)`,
  `create index discrepancies_graver on discrepancies (graver_at) where graver_at is not null`,
  `create table discrepancy_events (
    id integer primary key, discrepancy_id text not null references discrepancies (id), at text not null,
    event text not null check (event in ('opened','changed','reopened','acknowledged','resolved','closed')),
    source text not null, note text not null) strict`,
  `create index discrepancy_events_of on discrepancy_events (discrepancy_id, id)`,
  `create trigger discrepancy_events_no_update before update on discrepancy_events
    begin select raise(abort, 'the life of a discrepancy is append-only'); end`,
  `create trigger discrepancy_events_no_delete before delete on discrepancy_events
    begin select raise(abort, 'the life of a discrepancy is append-only'); end`,
  ...periodTables,
  `create table jobs (
    job text not null, host text not null, place text not null, last_run_at text, last_success_at text, last_result text,
    result_kind text check (result_kind in ('running','succeeded','incomplete','failed','skipped')),
    runner text, expression text, ended_at text, tries integer not null default 0, primary key (job, host)) strict`,
  `create table workers (
    id text primary key not null, kind text not null, host text not null, pid integer not null,
    lock_file text not null, started_at text not null, beat integer not null, ended_at text) strict`,
  `create table rates (
    name text primary key not null, next_at_ms integer not null, noted_at_ms integer not null) strict`,
  `create table pauses (
    name text primary key not null, until_at text not null, strikes integer not null, why text not null,
    noted_at text not null) strict`,
  `create table tallies (name text primary key not null, n integer not null, seen integer not null default 0) strict`,
  // The alerts that stand. `mark` is the newest id of what they are about.
  `create table alerts (
    kind text not null check (kind in (${alertKinds})), subject text not null, n integer not null,
    mark integer not null, raised_at text not null, repeat_at text not null, noted_at text not null,
    primary key (kind, subject)) strict, without rowid`,
  `create table alert_messages (
    id integer primary key, channel text not null check (channel in (${alertChannels})), content text not null,
    run_id text, made_at text not null, state text not null check (state in ('due','sent','gave_up')),
    tries integer not null default 0, due_at text not null, noted_at text not null, claimed_by text,
    problem text, ended_at text) strict`,
  `create index alert_messages_due on alert_messages (channel, id) where state = 'due'`,
  `create unique index alert_messages_run on alert_messages (channel, run_id) where run_id is not null`,
  ...fileTables,
];

/** Creates the first schema. Migrations are append-only: a later change is a new file beside this one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(withComparisons(statement)).execute(db);
}
