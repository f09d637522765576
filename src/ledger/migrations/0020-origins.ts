import { type Kysely, sql } from 'kysely';

const statements = [
  `create table origins (
    id integer primary key, base_url text not null, secret_key text not null, order_key text not null) strict`,
  `create unique index origins_unique on origins (base_url, secret_key, order_key)`,
  `create table origin_sights (
    seen_by integer not null, origin_id integer not null, at text not null,
    primary key (seen_by, origin_id)) strict`,
  `alter table attempts add column origin_id integer not null default 0`,
  `alter table inquiries add column origin_id integer not null default 0`,
  // 0: nobody wrote down where it went. There is such an origin only where something was sent before.
  `insert into origins (id, base_url, secret_key, order_key)
    select 0, '', '', '' where exists (select 1 from attempts)`,
  // The few that need an answer of the service before they are sent; what is sent for the first time is not among them.
  `create index payouts_again on payouts (mode, id)
    where state = 'ready' and (attempt_count > 0 or unseen_sends > 0 or successor_of is not null)`,
  `alter table payouts drop column look_up_first`,
];

/** Where each attempt and each look-up went (P31), and what another address or key has shown of what went there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
