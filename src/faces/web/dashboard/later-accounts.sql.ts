import { sql } from 'kysely';
import { idList } from '../../../core/storage/bulk.ts';
import type { Db } from '../../../core/storage/ledger.ts';
import { isOfOnePayee } from '../../../intake/paid-elsewhere.sql.ts';
import { everSent } from '../../../intake/series.sql.ts';

type Declined = { id: bigint; payee_key: string };

/** The newest later payment of the payee of each of these payouts, by its id, where that went to another account. */
export async function laterAccounts(db: Db, payouts: readonly Declined[]): Promise<Map<bigint, string>> {
  if (payouts.length === 0) return new Map();
  const keys = payouts.map(({ payee_key }) => payee_key).filter((key) => key !== '');
  const newest = sql`p.id > d.id and p.currency = d.currency and ${everSent}
    and p.state in ('sending', 'pending', 'unknown', 'success')`;
  const { rows } = await sql<{ id: bigint; reference: string }>`
    with later as (
      select d.id, d.account_number, d.bank_code, p.id as other from payouts d join payouts p
        on p.name_letters = d.name_letters and ${newest}
        where d.id in ${idList(payouts.map(({ id }) => id))} and d.name_letters <> ''
      union
      select d.id, d.account_number, d.bank_code, p.id as other from payouts d join payouts p
        on p.payee_key = d.payee_key and p.payee_key <> '' and ${newest} and ${isOfOnePayee(keys)}
        where d.id in ${idList(payouts.map(({ id }) => id))})
    select l.id, o.reference from later l join payouts o on o.id = l.other
    where l.other = (select max(m.other) from later m where m.id = l.id)
      and (o.account_number <> l.account_number or o.bank_code <> l.bank_code)`.execute(db);
  return new Map(rows.map(({ id, reference }) => [id, reference]));
}
