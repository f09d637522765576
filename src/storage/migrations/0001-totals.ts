import { states } from './0001-allowed-values.ts';

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
