import { type RawBuilder, sql } from 'kysely';
import { payeeKeysOf, payeeNameKey } from '../core/domain/payee-name.ts';
import { field, rowsOf, textsOf } from '../core/storage/bulk.ts';
import { hasRow } from '../core/storage/counting.ts';
import type { Db } from '../core/storage/ledger.ts';
import { everSent, leftReady, type PaidRow, paidColumns } from './series.sql.ts';

/** Whom a row is to pay. */
type Payee = {
  row: number;
  accountNumber: string;
  accountName: string;
  bankCode: string;
  currency: string;
  payeeId: string;
};

/** So many accounts of one payee are looked at, the last paid first; those that the rows pay always. */
const mostAccounts = 50;

/**
 * Finds rows whose payee was paid before, in any batch, but never on the account of the row: by its name, or by the key of
 * the employer (P37). Returns the last payout of the payee for each. Names that only look alike count where the name itself
 * was never paid.
 */
export async function paidElsewhere(db: Db, payees: readonly Payee[]): Promise<Map<number, PaidRow>> {
  const asked = (await notYetPaid(db, payees)).map(keyed);
  const byName = await lastPaid(db, 'name_letters', asked);
  const byKey = await lastPaid(db, 'payee_key', asked);
  const moved = new Map<number, PaidRow>();
  for (const one of asked) {
    const alike = byName.get(one.name_letters) ?? [];
    const name = payeeNameKey(one.accountName);
    const same = alike.filter((paid) => payeeNameKey(paid.account_name) === name);
    const last = [same.length > 0 ? same : alike, byKey.get(one.payee_key) ?? []]
      .filter((paid) => !paid.some((before) => isAccountOf(before, one)))
      .flatMap(([newest]) => newest ?? [])
      .toSorted((a, b) => Number(b.id - a.id));
    if (last[0]) moved.set(one.row, last[0]);
  }
  return moved;
}

/** Whether anything was ever sent. */
export async function anySent(db: Db): Promise<boolean> {
  return hasRow(db.selectFrom('payouts as p').where(everSent));
}

function isAccountOf(paid: PaidRow, { accountNumber, bankCode, currency }: Payee): boolean {
  return paid.account_number === accountNumber && paid.bank_code === bankCode && paid.currency === currency;
}

type Keyed = Payee & ReturnType<typeof payeeKeysOf>;

function keyed(one: Payee): Keyed {
  return { ...one, ...payeeKeysOf({ account_name: one.accountName, payee_id: one.payeeId }) };
}

/** Usually an account was paid before under exactly this name and key, and one query by accounts shows that. */
async function notYetPaid(db: Db, payees: readonly Payee[]): Promise<Payee[]> {
  const given = payees.map(
    ({ row, accountNumber: account, accountName: name, bankCode: bank, currency, payeeId }) => {
      return { row: String(row), account, bank, currency, name, id: payeeId };
    },
  );
  const toIt = sql`p.account_number = ${field('account')} and p.currency = ${field('currency')}
    and p.bank_code = ${field('bank')} and ${everSent}`;
  const { rows } = await sql<{ row: string }>`select ${field('row')} as row from ${rowsOf(given)} as row
    where not exists (select 1 from payouts p where ${toIt} and p.account_name = ${field('name')})
      or (${field('id')} <> '' and not exists (select 1 from payouts p where ${toIt} and p.payee_id = ${field('id')}))`.execute(
    db,
  );
  const asked = new Set(rows.map(({ row }) => Number(row)));
  return payees.filter(({ row }) => asked.has(row));
}

/** The last payout to each account of these payees, by their key; the newest first. */
async function lastPaid(
  db: Db,
  key: 'name_letters' | 'payee_key',
  payees: readonly Keyed[],
): Promise<Map<string, PaidRow[]>> {
  const wanted = [...new Set(payees.map((one) => one[key]))].filter((one) => one !== '');
  if (wanted.length === 0) return new Map();
  const accounts = [...new Set(payees.map(({ accountNumber }) => accountNumber))];
  const column = sql.ref(`p.${key}`);
  const isTelling = key === 'payee_key' ? isOfOnePayee(wanted) : sql<boolean>`1 = 1`;
  const { rows } = await sql<PaidRow & { key: string }>`
    with accounts as (
      select ${column} as key, max(p.id) as id from payouts p
      where ${column} in (${textsOf(wanted)}) and ${column} <> '' and ${everSent} and ${isTelling}
      group by ${column}, p.account_number, p.bank_code, p.currency, p.account_name),
    ranked as (select key, id, row_number() over (partition by key order by id desc) as place from accounts)
    select ranked.key, ${sql.join(paidColumns.map((name) => sql.ref(`o.${name}`)))}
    from ranked join payouts o on o.id = ranked.id
    where ranked.place <= ${mostAccounts} or o.account_number in (${textsOf(accounts)})
    order by o.id desc`.execute(db);
  return Map.groupBy(rows, (row) => row.key);
}

/** True for a key that no batch gave to different people at once, on accounts of their own: `N/A` and `-` are no keys. */
export function isOfOnePayee(wanted: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`p.payee_key not in (select k.payee_key from payouts k
    where k.payee_key in (${textsOf(wanted)}) and k.payee_key <> '' and ${leftReady('k')}
    group by k.payee_key, k.batch_id
    having count(distinct k.name_letters) > 1 and count(distinct k.account_number) > 1)`;
}
