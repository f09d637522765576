import { type RawBuilder, sql } from 'kysely';
import { foldReference } from '../domain/ids.ts';
import type { PayoutState } from '../domain/payout.ts';
import { textsOf } from '../storage/bulk.ts';
import { perDialect } from '../storage/dialect.ts';
import type { Db } from '../storage/ledger.ts';
import { unseen } from '../storage/prepared.ts';
import type { Payout } from '../storage/tables/tables.ts';
import type { PayeeChange } from './payee-comparisons.ts';

/**
 * The account of a payout. `since`: when that account was first paid, under any name, ISO UTC; null where no payment of
 * it is known.
 */
export type UsedAccount = Pick<Payout, 'account_number' | 'account_name' | 'bank_code' | 'currency'> & {
  since: string | null;
};

/** True for a payout that was paid, also where it came back. The index of accounts leads to it, not that of states. */
export const wasPaid = (payout: 'p' | 'q'): RawBuilder<boolean> =>
  sql`${unseen(sql.ref<string>(`${payout}.state`))} in ('success', 'returned')`;

/** When a payout was paid, as its own page says it. */
export const paidAt = (payout: 'p' | 'q'): RawBuilder<string> =>
  sql`coalesce(${sql.ref(`${payout}.settled_at`)}, ${sql.ref(`${payout}.final_at`)}, ${sql.ref(`${payout}.updated_at`)})`;

/** The accounts of these payouts, by reference. */
export async function accountsOf(db: Db, references: readonly string[]): Promise<Map<string, UsedAccount>> {
  if (references.length === 0) return new Map();
  const { rows } = await sql<UsedAccount & { reference: string }>`
    select p.reference, p.account_number, p.account_name, p.bank_code, p.currency,
      (select min(${paidAt('q')}) from payouts q where q.account_number = p.account_number
        and q.bank_code = p.bank_code and q.currency = p.currency and ${wasPaid('q')}) as since
    from payouts p where p.reference_key in (${textsOf(references.map(foldReference))})`.execute(db);
  return new Map(rows.map(({ reference, ...account }) => [reference, account]));
}

/** A change that a batch brought, when it was taken in, and its payout; null where an archive has that. */
export type ListedChange = Pick<PayeeChange, 'reference' | 'old' | 'new'> & {
  kind: 'account_changed' | 'name_changed';
  /** The payout with what was before; null where an older version compared. */
  was: string | null;
  batch_id: string;
  dropped_by: string;
  taken_in_at: string;
  payout: Pick<Payout, 'id' | 'state' | 'submitted_at'> | null;
};

/**
 * Accounts and names that were new to their payee at an intake (P37), whatever became of the batch; the newest first.
 */
export async function listPayeeChanges(
  db: Db,
  { limit, offset }: { limit: number; offset: number },
): Promise<ListedChange[]> {
  const told = (name: keyof PayeeChange) => sql`change.value ->> ${sql.lit(name)}`;
  type Row = Omit<ListedChange, 'payout'> & {
    id: bigint | null;
    state: PayoutState;
    submitted_at: string | null;
  };
  const { rows } = await sql<Row>`
    select ${told('reference')} as reference, ${told('kind')} as kind, ${told('old')} as old, ${told('new')} as new,
      ${told('was')} as was, b.id as batch_id, b.dropped_by, b.created_at as taken_in_at, n.id, n.state, n.submitted_at
    from payee_comparisons c join batches b on b.id = c.batch_id cross join ${keptChanges} change
      left join payouts n on n.batch_id = c.batch_id and n.row_number = cast(${told('row')} as bigint)
        and n.reference = ${told('reference')}
    where c.digest <> '' and ${isOfPayee}
    order by b.created_at desc, b.id, cast(${told('row')} as bigint) limit ${limit} offset ${offset}`.execute(
    db,
  );
  return rows.map(({ id, state, submitted_at, ...change }) => {
    return { ...change, payout: id === null ? null : { id, state, submitted_at } };
  });
}

/** The changes of the comparison `c`, as `change.value`. */
const keptChanges = perDialect<unknown>(
  sql`json_each(c.found, '$.changes')`,
  sql`lateral (select element as value from jsonb_array_elements(c.found::jsonb -> 'changes') as e (element))`,
);

const isOfPayee = sql<boolean>`change.value ->> ${sql.lit('kind')} in ('account_changed', 'name_changed')`;

/**
 * The accounts that those changes brought. The cross joins keep SQLite in this order: it would read each change for
 * every payout.
 */
export function changedAccounts(): RawBuilder<string> {
  return sql<string>`select n.account_number from payee_comparisons c cross join ${keptChanges} change
    cross join payouts n
    where n.batch_id = c.batch_id and n.row_number = cast(change.value ->> ${sql.lit('row')} as bigint)
      and ${isOfPayee}`;
}
