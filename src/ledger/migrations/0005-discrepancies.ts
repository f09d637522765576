import { type Kysely, sql } from 'kysely';

const statements = [
  `alter table discrepancies add column resolved_by text check (resolved_by in ('evidence','person'))`,
  `alter table discrepancies add column reopened integer not null default 0`,
  `alter table discrepancies add column shown_at text`,
  `alter table discrepancies add column later_severity text`,
  `alter table discrepancies add column graver_at text`,
  `update discrepancies set resolved_by = case when note like '%closed by evidence of run%' then 'evidence' else 'person' end
    where state = 'resolved'`,
  `create index discrepancies_state on discrepancies (mode, state, kind)`,
  `create index discrepancies_payout on discrepancies (payout_id)`,
  `create index discrepancies_graver on discrepancies (mode, graver_at) where graver_at is not null`,
  `create table discrepancy_events (
    id integer primary key, discrepancy_id text not null references discrepancies (id), at text not null,
    event text not null check (event in ('opened','changed','reopened','acknowledged','resolved','closed')),
    source text not null, note text not null) strict`,
  `create index discrepancy_events_of on discrepancy_events (discrepancy_id, id)`,
  `create trigger discrepancy_events_no_update before update on discrepancy_events
    begin select raise(abort, 'the life of a discrepancy is append-only'); end`,
  `create trigger discrepancy_events_no_delete before delete on discrepancy_events
    begin select raise(abort, 'the life of a discrepancy is append-only'); end`,
  `insert into discrepancy_events (discrepancy_id, at, event, source, note)
    select id, first_seen_at, 'opened', 'an earlier version', '' from discrepancies order by first_seen_at, id`,
  `insert into discrepancy_events (discrepancy_id, at, event, source, note)
    select id, coalesce(resolved_at, last_seen_at), case resolved_by when 'evidence' then 'closed' else 'resolved' end,
      'an earlier version', note
    from discrepancies where state = 'resolved' order by resolved_at, id`,
  `create index inquiries_conflict on inquiries (payout_id, id)
    where kind = 'details' and outcome >= 'conflict' and outcome < 'conflicu'`,
  `create table look_alikes (
    run_id text not null references runs (id), account_number text not null, amount integer not null,
    currency text not null, bank_code text not null, created_at text not null, transfer_id text not null,
    reference text not null, status text not null,
    primary key (run_id, account_number, amount, currency, bank_code, created_at, transfer_id)) strict, without rowid`,
];

/** The whole life of a discrepancy, who ended it, how grave it is going to be, what a lost payout resembles, and whom look-ups contradict. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
