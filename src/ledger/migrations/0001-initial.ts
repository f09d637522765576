import { type Kysely, sql } from 'kysely';

const states =
  "'held','ready','sending','pending','success','failed','refused','unknown','cancelled','returned'";

const statements = [
  `create table meta (key text primary key not null, value text not null) strict`,
  `create table batches (
    id text primary key not null, mode text not null check (mode in ('test','live')), name text not null,
    file_name text not null, content_hash text not null,
    phase text not null check (phase in ('loading','loaded','cancelled')),
    columns text not null, delimiter text not null, row_count integer not null, hold_reasons text not null,
    body_digest text not null, created_at text not null, version integer not null default 0,
    reported_version integer not null default -1) strict`,
  `create unique index batches_content on batches (mode, content_hash)`,
  `create table payouts (
    id integer primary key, mode text not null check (mode in ('test','live')),
    batch_id text not null references batches (id), row_number integer not null,
    reference text not null, reference_key text not null,
    account_number text not null, account_name text not null, bank_code text not null,
    amount integer not null check (amount > 0), currency text not null, narration text not null,
    sender_name text not null, type text, body text not null, cells text not null,
    state text not null check (state in (${states})),
    attempt_count integer not null default 0, last_attempt_id integer,
    transfer_id text, trx text, fee text, message text, submitted_at text, settled_at text, final_at text,
    evidence text not null default '', look_up_first integer not null default 0, not_before text,
    history_seq integer not null default 0, history_head text not null default '', updated_at text not null) strict`,
  `create unique index payouts_reference on payouts (mode, reference_key)`,
  `create index payouts_batch on payouts (batch_id, row_number)`,
  `create index payouts_state on payouts (mode, state, id)`,
  `create index payouts_transfer on payouts (mode, transfer_id)`,
  `create index payouts_trx on payouts (mode, trx)`,
  `create index payouts_likeness on payouts (mode, account_number, currency, amount)`,
  `create table attempts (
    id integer primary key, payout_id integer not null references payouts (id), number integer not null,
    worker_id text not null, began_at text not null, ended_at text,
    outcome text check (outcome in ('accepted','refused','not_sent','turned_away','unknown')),
    http_status integer, code text, message text, transfer_id text, raw text) strict`,
  `create unique index attempts_payout on attempts (payout_id, number)`,
  `create index attempts_open on attempts (worker_id) where outcome is null`,
  `create index attempts_ended on attempts (ended_at)`,
  `create table history (
    id integer primary key, payout_id integer not null references payouts (id), seq integer not null,
    at text not null, event text not null, source text not null,
    from_state text, to_state text not null check (to_state in (${states})),
    detail text not null, prev_hash text not null, hash text not null) strict`,
  `create unique index history_payout on history (payout_id, seq)`,
  `create trigger history_no_update before update on history begin select raise(abort, 'history is append-only'); end`,
  `create trigger history_no_delete before delete on history begin select raise(abort, 'history is append-only'); end`,
  `create table webhooks (
    id integer primary key, mode text not null, digest text not null, received_at text not null,
    last_received_at text not null, deliveries integer not null, kind text not null, reference text, trx text,
    headers text not null, body blob not null, stale integer not null, applied_at text,
    payout_id integer references payouts (id), effect text) strict`,
  `create unique index webhooks_digest on webhooks (mode, digest)`,
  `create index webhooks_unapplied on webhooks (id) where applied_at is null`,
  `create index webhooks_payout on webhooks (payout_id)`,
  `create table rejections (
    id integer primary key, at text not null, path text not null, reason text not null, address text not null) strict`,
  `create table inquiries (
    id integer primary key, payout_id integer not null references payouts (id),
    kind text not null check (kind in ('details','resend')), reason text not null, due_at text not null,
    rung integer not null, asked_at text, answered_at text, outcome text, raw text) strict`,
  `create unique index inquiries_due on inquiries (payout_id, kind) where outcome is null`,
  `create index inquiries_due_at on inquiries (kind, due_at) where outcome is null`,
  `create index inquiries_payout on inquiries (payout_id, id)`,
  `create table runs (
    id text primary key not null, mode text not null, started_at text not null, finished_at text, summary text) strict`,
  `create table run_rows (
    run_id text not null references runs (id), sheet text not null, position integer not null, cells text not null,
    primary key (run_id, sheet, position)) strict, without rowid`,
  `create table listed (
    run_id text not null references runs (id), transfer_id text not null, trx text, reference text not null,
    reference_key text not null, currency text not null, amount integer, amount_text text not null, fee text,
    account_name text not null, account_number text not null, bank_code text not null, domain text,
    status text not null, created_at text not null, updated_at text not null,
    pass integer not null, pass_before integer not null default 0, payout_id integer references payouts (id),
    primary key (run_id, transfer_id)) strict, without rowid`,
  `create index listed_reference on listed (run_id, reference_key)`,
  `create index listed_payout on listed (run_id, payout_id)`,
  `create table discrepancies (
    id text primary key not null, mode text not null, kind text not null, subject text not null,
    payout_id integer references payouts (id), batch_id text, reference text not null, trx text, transfer_id text,
    currency text not null, expected text not null, actual text not null, difference text not null,
    severity text not null, evidence text not null, action text not null,
    state text not null check (state in ('open','acknowledged','resolved')), note text not null,
    first_seen_at text not null, last_seen_at text not null, last_run_id text not null, resolved_at text) strict`,
  `create unique index discrepancies_subject on discrepancies (mode, kind, subject)`,
  `create table halts (mode text primary key not null, cause text not null, at text not null) strict`,
  `create table jobs (job text primary key not null, last_run_at text, last_success_at text, last_result text) strict`,
  `create table workers (
    id text primary key not null, kind text not null, host text not null, pid integer not null,
    lock_file text not null, started_at text not null, beat integer not null, ended_at text) strict`,
  `create table rates (name text primary key not null, next_at_ms integer not null) strict`,
  `create table file_moves (
    id integer primary key, source text not null, target text not null, created_at text not null, done_at text) strict`,
];

/** The first schema. Migrations are append-only: a later change is a new file beside this one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
