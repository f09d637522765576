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
