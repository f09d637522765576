import { type Kysely, sql } from 'kysely';

const columns = `run_id, transfer_id, trx, reference, reference_key, currency, amount, amount_text, fee, account_name,
  account_number, bank_code, domain, status, created_at, updated_at, pass, payout_id`;

const statements = [
  `create table listed_next (
    run_id text not null references runs (id), transfer_id text not null, trx text, reference text not null,
    reference_key text not null, currency text not null, amount integer, amount_text text not null, fee text,
    account_name text not null, account_number text not null, bank_code text not null, domain text,
    status text not null, created_at text not null, updated_at text not null,
    pass integer not null, payout_id integer, stray_key text, primary key (run_id, transfer_id)) strict`,
  `insert into listed_next (${columns}, stray_key)
    select ${columns}, case when not exists (select 1 from payouts p
      where p.id = listed.payout_id and p.reference_key = listed.reference_key) then reference_key end
    from listed order by run_id, transfer_id`,
  `drop table listed`,
  `alter table listed_next rename to listed`,
  `create index listed_payout on listed (run_id, payout_id, transfer_id)`,
  `create index listed_stray on listed (run_id, stray_key, transfer_id) where stray_key is not null`,
];

/**
 * Listed rows in the order they came, with as few indexes as their readers need: a million are written every night. A
 * row is found under its reference through its payout, or by `stray_key` where no payout goes by that reference. That
 * `payout_id` is a payout's is kept by those who write it: to check it, each payout that is thrown away would cost an
 * index of its own.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
