import { type Kysely, sql } from 'kysely';

const modes = "('test','live')";

const statements = [
  `alter table batches add column dropped_by text not null default ''`,
  `alter table batches add column dropped_uid integer`,
  `alter table batches add column dropped_as text not null default ''`,
  `alter table batches add column dropped_as_uid integer`,
  `alter table batches add column approval_needed integer not null default 0 check (approval_needed in (0, 1))`,
  `create table batch_totals (
    batch_id text not null references batches (id), currency text not null, amount integer not null,
    primary key (batch_id, currency)) strict, without rowid`,
  // What intake writes from now on: the payments of a batch without those that pay others of it again. An undecided
  // batch is thrown away and taken in anew.
  `insert into batch_totals (batch_id, currency, amount)
    select batch_id, currency, sum(amount) from payouts
    where successor_of is null
      and batch_id not in (select id from batches where phase = 'loading' and body_digest = '')
    group by batch_id, currency`,
  `create table approvals (
    id integer primary key, mode text not null check (mode in ${modes}), batch_id text not null references batches (id),
    bodies text not null, digest text not null, through_id integer not null, row_count integer not null,
    totals text not null, approved_by text not null, approved_at text not null) strict`,
  `create index approvals_batch on approvals (batch_id, through_id)`,
  `create trigger approvals_no_update before update on approvals
    begin select raise(abort, 'an approval is never changed'); end`,
  `create trigger approvals_no_delete before delete on approvals
    begin select raise(abort, 'an approval is never taken back'); end`,
  `create trigger payouts_body_frozen before update of body on payouts
    when old.body is not new.body and old.history_seq > 0 and old.state in ('held','ready','sending','unknown')
    begin select raise(abort, 'the body of a payout is frozen at intake'); end`,
  `create table canaries (
    batch_id text primary key not null references batches (id), mode text not null check (mode in ${modes}),
    from_id integer not null, through_id integer not null,
    state text not null check (state in ('open','passed','failed','released')),
    started_at text not null, ended_at text, cause text) strict`,
  `create index canaries_standing on canaries (mode, state)`,
  `create table limit_days (
    id integer primary key, mode text not null check (mode in ${modes}), day text not null, opened_at text not null) strict`,
  `create index limit_days_mode on limit_days (mode, id)`,
  `create index limit_days_day on limit_days (mode, day)`,
  `create table limit_uses (
    day_id integer not null references limit_days (id), currency text not null,
    used integer not null check (used >= 0), primary key (day_id, currency)) strict, without rowid`,
  `create table adopted_uses (
    mode text not null check (mode in ${modes}), adopted_at text not null, currency text not null,
    used integer not null check (used >= 0), primary key (mode, adopted_at, currency)) strict, without rowid`,
  `insert into adopted_uses (mode, adopted_at, currency, used)
    select p.mode, h.at, p.currency, sum(p.amount) from history h join payouts p on p.id = h.payout_id
    where h.event = 'adopted' group by p.mode, h.at, p.currency`,
  `alter table attempts add column day_id integer references limit_days (id)`,
  // Attempts of earlier versions, which no day counts.
  `create index attempts_uncounted on attempts (began_at) where day_id is null`,
  // Without it each payout of a half batch that is thrown away costs a look at every listed transfer.
  `create index listed_of on listed (payout_id) where payout_id is not null`,
  `create index payouts_ready on payouts (mode, batch_id, currency, id) where state = 'ready'`,
];

/** The brakes: who dropped and who approved a batch, its canary, and what was sent of a day's limit (P2, P21). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
