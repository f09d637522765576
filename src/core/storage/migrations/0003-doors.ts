import { type Kysely, sql } from 'kysely';

/** What a batch may be told to be, and what else happens; frozen as of this migration. */
const types = [
  ...['taken', 'held', 'sent', 'done', 'cancelled'].map((state) => `batch.${state}`),
  ...['opened', 'closed'].map((change) => `discrepancy.${change}`),
  ...['run.finished', 'halt.raised', 'halt.lifted', 'month.closed'],
];

const statements = [
  // The state that the newest event of the batch told; empty: of a batch from before there were events.
  `alter table batches add column told_state text not null default ''`,
  // Payouts are not here: an entry of history is their event. `after_history`: the newest entry when it was written.
  `create table events (
    id integer primary key, after_history integer not null, at text not null,
    type text not null check (type in (${types.map((type) => `'${type}'`).join(',')})),
    batch_id text, reference text, data text not null) strict`,
  // How far a receiver of events was told, and how its next event fares.
  `create table event_outboxes (
    name text primary key not null, after_cursor text not null, claimed_by text, tries integer not null default 0,
    due_at text not null, noted_at text not null, problem text, gave_up integer not null default 0,
    gave_up_at text) strict, without rowid`,
  // What a request with an Idempotency-Key was answered, for a day. `status` null: it is being worked on.
  `create table kept_answers (
    person text not null, key text not null, request text not null, made_at text not null, worker_id text not null,
    status integer, body text, primary key (person, key)) strict, without rowid`,
  `create index kept_answers_made on kept_answers (made_at)`,
  // What the operator's own server is asked about a batch that waits for an approval.
  `create table approval_questions (
    batch_id text primary key not null references batches (id), digest text not null, asked_at text not null,
    claimed_by text, tries integer not null default 0, due_at text not null, noted_at text not null, problem text,
    rejected_at text) strict, without rowid`,
];

/** Adds what the API tells and answers. No row is rewritten, so that an upgrade takes the same time for every ledger. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
