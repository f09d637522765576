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

/** The table of what is left of strangers' webhooks. */
export const strangerTables = [
  // References of deleted webhooks that matched no payout, with the id of the last one.
  `create table heard_references (
    reference_key text primary key not null, id integer not null) strict, without rowid`,
];
