import { rejectionEnds, rejections, states, tasks } from './0001-allowed-values.ts';

/** The tables of archives, which batches and runs refer to. */
export const archiveTables = [
  // `file` lies in the folder `archive` beside the ledger. `done_at` is null while it is being made.
  `create table archives (
    id integer primary key, file text not null, through_history integer not null, begun_at text not null,
    done_at text, sha256 text not null default '') strict`,
  // What the archived payouts add to a line of a closed month, in minor units.
  `create table archived_amounts (
    archive_id integer not null references archives (id), month text not null, currency text not null,
    line text not null, amount integer not null, primary key (archive_id, month, currency, line)) strict, without rowid`,
];

/** An archived payout can never become ready to be sent again. */
export const archiveGuards = [
  `create trigger payouts_archived_unsent before update of state on payouts
    when new.archived_seq is not null and new.state in ('held','ready','sending')
    begin select raise(abort, 'an archived payout is never sent again'); end`,
];

export const strangerTables = [
  // References of deleted webhooks that matched no payout, with the id of the last one.
  `create table heard_references (
    reference_key text primary key not null, id integer not null) strict, without rowid`,
];

/** The decisions of people to send new batches of an adopted ledger without a complete list (P25, P32). */
export const waivedListings = [
  `create table waived_listings (
    id integer primary key, at text not null, decided_by text not null, note text not null,
    not_proven text not null) strict`,
  ...['update', 'delete'].map(
    (event) => `create trigger waived_listings_no_${event} before ${event} on waived_listings
    begin select raise(abort, 'a decision is never taken back'); end`,
  ),
];

/** The tables of the daily limit and of the questions before payment; part of 0001-initial.ts. */
export const limits = [
  `create table account_names (
    batch_id text not null, bank_code text not null, account_number text not null, name text, message text not null,
    primary key (batch_id, bank_code, account_number)) strict, without rowid`,
  `create table limit_days (
    id integer primary key, day text not null, opened_at text not null, begins_at text not null,
    ends_at text not null) strict`,
  `create index limit_days_ends on limit_days (ends_at)`,
  `create table limit_uses (
    day_id integer not null references limit_days (id), currency text not null,
    used integer not null check (used >= 0), primary key (day_id, currency)) strict, without rowid`,
  `create table adopted_uses (
    adopted_at text not null, currency text not null, used integer not null check (used >= 0),
    primary key (adopted_at, currency)) strict, without rowid`,
];

/** Figures of 0001-initial.ts that change with every state, so that no monitor counts a million payouts. */
export const totals = [
  `create table payout_totals (
    batch_id text not null references batches (id), currency text not null,
    state text not null check (state in (${states})), n integer not null, amount integer not null,
    primary key (batch_id, currency, state)) strict, without rowid`,
  `create table attempt_totals (
    outcome text primary key not null check (outcome in ('accepted','refused','not_sent','turned_away','unknown')),
    n integer not null) strict`,
];

/** The two triggers that keep the rows of a table as they are once they are written. */
function unchanging(table: string): string[] {
  return ['update', 'delete'].map(
    (event) => `create trigger ${table}_no_${event} before ${event} on ${table}
    begin select raise(abort, 'a closed month never changes'); end`,
  );
}

/** Rows are written before their month, in its transaction; nothing may be added afterwards. */
function complete(table: string): string {
  return `create trigger ${table}_no_more before insert on ${table}
    when exists (select 1 from periods p where p.month = new.month)
    begin select raise(abort, 'a closed month never changes'); end`;
}

/** Closed months, which triggers keep from changing (P30). */
export const periodTables = [
  `create table periods (
    month text not null, starts_at text not null, ends_at text not null, timezone text not null,
    from_history integer not null, through_history integer not null check (through_history >= from_history),
    closed_at text not null, closed_by text not null, run_id text, digest text not null, primary key (month)) strict, without rowid`,
  ...unchanging('periods'),
  `create table period_rows (
    month text not null, sheet text not null, position integer not null, cells text not null,
    primary key (month, sheet, position)) strict, without rowid`,
  ...unchanging('period_rows'),
  complete('period_rows'),
  `create table period_transfers (
    transfer_id text not null, month text not null, primary key (transfer_id)) strict, without rowid`,
  ...unchanging('period_transfers'),
  complete('period_transfers'),
];

/** Files that are promised to move or to be written, and those that a person must deal with (P34). */
export const fileTables = [
  `create table file_moves (
    id integer primary key, source text not null, target text not null, created_at text not null, done_at text,
    machine text not null default '', kind text not null check (kind in (${tasks})),
    owner text not null, bytes integer, sha256 text not null default '',
    outcome text check (outcome in ('done','missing','differs'))) strict`,
  `create index file_moves_open on file_moves (id) where done_at is null`,
  `create index file_moves_owner on file_moves (owner)`,
  // Files that were refused, and taken files without the rows that skip_row left out. An open one needs a person.
  `create table rejected_files (
    id integer primary key, kind text not null check (kind in (${rejections})), name text not null,
    place text not null, errors_file text, problems integer not null, rows_left integer not null,
    content_hash text not null, owner text not null default '', machine text not null default '',
    since text not null, ended_at text, ended text check (ended in (${rejectionEnds})),
    ended_by text not null default '', note text not null default '') strict`,
  `create index rejected_files_open on rejected_files (id) where ended_at is null`,
];
