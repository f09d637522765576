import { type Kysely, sql } from 'kysely';
import { idKey, nameLetters } from './0009-payee-names.ts';

const columns = ['name_letters', 'payee_key'].map(
  (name) => `alter table payouts add column ${name} text not null default ''`,
);

const wasSent = `state not in ('held', 'ready', 'cancelled')`;
const indexes = [
  // By what a payee is found again among all that was ever sent (P37): the letters of its name, and the key of the employer.
  `create index payouts_name on payouts (name_letters, account_number) where ${wasSent}`,
  `create index payouts_payee on payouts (payee_key, account_number) where payee_key <> '' and ${wasSent}`,
];

const pageSize = 1000;
type Named = { id: bigint; account_name: string; payee_id: string };

/** Adds by what a payee is found again, and fills it in for every payout: each row is rewritten once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of columns) await sql.raw(statement).execute(db);
  for (let after = 0n; ; ) {
    const { rows } = await sql<Named>`select id, account_name, payee_id from payouts where id > ${after}
      order by id limit ${pageSize}`.execute(db);
    const keys = rows.map(
      ({ id, account_name, payee_id }) =>
        sql`(cast(${id} as bigint), ${nameLetters(account_name)}, ${idKey(payee_id)})`,
    );
    if (keys.length > 0)
      await sql`with keys (id, letters, payee) as (values ${sql.join(keys)})
        update payouts set name_letters = keys.letters, payee_key = keys.payee
        from keys where payouts.id = keys.id`.execute(db);
    if (rows.length < pageSize) break;
    after = rows.at(-1)?.id ?? after;
  }
  for (const statement of indexes) await sql.raw(statement).execute(db);
}
