import { type Kysely, sql } from 'kysely';

const modes = "('test','live')";

const statements = [
  `create table collection_files (
    id text primary key not null, mode text not null check (mode in ${modes}), file_name text not null,
    content_hash text not null, phase text not null check (phase in ('loading','loaded')),
    row_count integer not null, created_at text not null) strict`,
  `create unique index collection_files_content on collection_files (mode, content_hash)`,
  `create table collections (
    id integer primary key, mode text not null check (mode in ${modes}),
    reference text not null, reference_key text not null,
    state text not null check (state in ('expected','heard','received','failed','conflict')),
    file_id text references collection_files (id), row_number integer,
    expected_amount integer check (expected_amount > 0), expected_currency text, expected_at text,
    heard_at text, told_status text, told_trx text, told_amount text, told_currency text, told_domain text,
    told_fee text, told_paid_at text, dispute text not null default '[]',
    verified_at text, verified_status text, verified_trx text, verified_amount text, verified_currency text,
    verified_domain text, verified_fee text, verified_paid_at text,
    received_at text, trx text,
    ask_at text, rung integer not null default 0, raised integer not null default 0,
    answered_at text, answer text, updated_at text not null) strict`,
  `create unique index collections_reference on collections (mode, reference_key)`,
  `create index collections_trx on collections (mode, trx) where trx is not null`,
  `create index collections_state on collections (mode, state, id)`,
  `create index collections_due on collections (mode, ask_at) where ask_at is not null`,
  `create index collections_file on collections (file_id) where file_id is not null`,
  `create table collection_look_ups (
    id integer primary key, collection_id integer not null references collections (id),
    asked_at text not null, answered_at text not null, outcome text not null, raw text) strict`,
  `create index collection_look_ups_collection on collection_look_ups (collection_id, id)`,
  `alter table webhooks add column collection_id integer references collections (id)`,
  `create index webhooks_collection on webhooks (collection_id) where collection_id is not null`,
  // Until now they were kept and nothing more: they are applied like those that come from here on.
  `update webhooks set applied_at = null, effect = null where kind = 'transaction'`,
  `create table resend_requests (
    id integer primary key, mode text not null check (mode in ${modes}),
    payout_id integer references payouts (id), collection_id integer references collections (id),
    reason text not null, due_at text not null, asked_at text, answered_at text,
    outcome text check (outcome in ('asked','refused','error','no_answer','heard','dropped')), raw text,
    check ((payout_id is null) <> (collection_id is null))) strict`,
  `create unique index resend_requests_payout_open on resend_requests (payout_id)
    where outcome is null and payout_id is not null`,
  `create unique index resend_requests_collection_open on resend_requests (collection_id)
    where outcome is null and collection_id is not null`,
  `create index resend_requests_due on resend_requests (mode, due_at) where outcome is null`,
  `create index resend_requests_payout on resend_requests (payout_id, id) where payout_id is not null`,
  `create index resend_requests_collection on resend_requests (collection_id, id) where collection_id is not null`,
  `insert into resend_requests (mode, payout_id, reason, due_at, asked_at, answered_at, outcome, raw)
    select p.mode, i.payout_id, i.reason, i.due_at, i.asked_at, i.answered_at,
      case i.outcome when 'asked' then 'asked' else 'error' end, i.raw
    from inquiries i join payouts p on p.id = i.payout_id
    where i.kind = 'resend' and i.outcome in ('asked','error') order by i.id`,
  `delete from inquiries where kind = 'resend'`,
  `create table pauses (
    name text primary key not null, until_at text not null, strikes integer not null, why text not null) strict`,
  `create table tallies (name text primary key not null, n integer not null, seen integer not null default 0) strict`,
];

/** Collections, expected and heard; resend requests of both kinds with what came of them; pauses a service asked for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
