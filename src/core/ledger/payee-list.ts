import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { perDialect } from '../storage/dialect.ts';
import type { Db } from '../storage/ledger.ts';
import { changedAccounts, paidAt, wasPaid } from './payee-changes.ts';
import { isNamed, isNameLike } from './payout-list.ts';

/** An account that was paid, with every name and key of the employer under which it was. */
export type Payee = {
  account_number: string;
  bank_code: string;
  currency: string;
  names: string[];
  payee_ids: string[];
  first_paid_at: string;
  last_paid_at: string;
  paid: number;
  returned: number;
  batches: number;
};

type Grouped = Omit<Payee, 'names' | 'payee_ids' | 'paid' | 'returned' | 'batches'> & {
  names: string;
  payee_ids: string;
  paid: bigint;
  returned: bigint;
  batches: bigint;
};

const texts = z.array(z.string());
const key = z.tuple([z.string(), z.string(), z.string()]);

/** The cursor behind a payee: its account, which no log of addresses should show in plain digits. */
export function payeeCursor({ account_number, bank_code, currency }: Payee): string {
  return Buffer.from(JSON.stringify([account_number, bank_code, currency])).toString('base64url');
}

/** Returns the account of a cursor; null for a text that is none. */
export function payeeAfter(cursor: string): z.infer<typeof key> | null {
  try {
    return key.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    return null;
  }
}

/**
 * Returns known payees in the order of their accounts: those paid with success, also where it came back later. `changed`:
 * only those whose account or name was new to their series at an intake (P37). `search`: an account or its beginning, or a
 * part of a name that a payout among the newest has.
 */
export async function listPayees(
  db: Db,
  {
    changed,
    limit,
    search = '',
    after = ['', '', ''],
  }: { changed: boolean; limit: number; search?: string; after?: [string, string, string] },
): Promise<Payee[]> {
  const [number, bank, currency] = after;
  const some = changed ? sql`and p.account_number in (${changedAccounts()})` : sql``;
  const only = search === '' ? some : sql`${some} and p.account_number in (${foundAccounts(search)})`;
  const isPaid = wasPaid('p');
  const list = (column: RawBuilder<unknown>) =>
    perDialect<string>(sql`json_group_array(distinct ${column})`, sql`json_agg(distinct ${column})::text`);
  const when = paidAt('p');
  const { rows } = await sql<Grouped>`
    select p.account_number, p.bank_code, p.currency, ${list(sql`p.account_name`)} as names,
      ${list(sql`p.payee_id`)} as payee_ids, min(${when}) as first_paid_at, max(${when}) as last_paid_at,
      sum(case when p.state = 'success' then 1 else 0 end) as paid,
      sum(case when p.state = 'returned' then 1 else 0 end) as returned, count(distinct p.batch_id) as batches
    from payouts p
    where ${isPaid} and p.account_number in (select distinct p.account_number from payouts p
        where p.account_number >= ${number} and ${isPaid} ${only} order by p.account_number limit ${limit + 1})
      and (p.account_number, p.bank_code, p.currency) > (${number}, ${bank}, ${currency})
    group by p.account_number, p.bank_code, p.currency
    order by p.account_number, p.bank_code, p.currency limit ${limit}`.execute(db);
  return rows.map((row) => ({
    ...row,
    names: texts.parse(JSON.parse(row.names)).toSorted(),
    payee_ids: texts.parse(JSON.parse(row.payee_ids)).filter((id) => id !== ''),
    ...{ paid: Number(row.paid), returned: Number(row.returned), batches: Number(row.batches) },
  }));
}

function foundAccounts(text: string): RawBuilder<unknown> {
  // An account holds digits; `~` sorts behind each of them.
  const named = sql`union select q.account_number from payouts q where ${isNamed(text)}`;
  return sql`select q.account_number from payouts q where q.account_number >= ${text} and q.account_number < ${`${text}~`}
    ${isNameLike(text) ? named : sql``}`;
}
