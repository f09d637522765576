import { type SelectQueryBuilder, sql } from 'kysely';
import { foldReference } from '../domain/ids.ts';
import { decimalToMinor } from '../domain/money.ts';
import type { CountedState, PayoutState } from '../domain/payout.ts';
import type { Db } from '../storage/ledger.ts';
import type { Payout, Tables } from '../storage/tables/tables.ts';
import { recounted, replacedSums } from './replaced.ts';

/** What a list of payouts is narrowed to. `reference`: how it begins. `since`: taken in then or later, ISO UTC. */
export type PayoutFilter = {
  state?: PayoutState | undefined;
  batch?: string | undefined;
  currency?: string | undefined;
  since?: string | undefined;
  reference?: string | undefined;
  bank?: string | undefined;
  /** Taken in before this instant, ISO UTC. */
  until?: string | undefined;
  /** A plain decimal. */
  amount?: string | undefined;
  /** A reference or its beginning, an account, a transfer id, a trx, or a part of a beneficiary's name. */
  search?: string | undefined;
};

const columns = [
  'id',
  'batch_id',
  'row_number',
  'reference',
  'account_name',
  'account_number',
  'bank_code',
  'amount',
  'currency',
  'state',
  'transfer_id',
  'trx',
  'fee',
  'message',
  'submitted_at',
  'settled_at',
  'evidence',
  'updated_at',
] as const;

/** A payout of a list. `taken_in_at` is null while its batch is loading. */
export type ListedPayout = Pick<Payout, (typeof columns)[number]> & { taken_in_at: string | null };

const pageSize = 1000;

/** Payouts that match, the newest first, at most `limit`, a page at a time; `after`: those behind this id. */
export async function* listPayouts(
  db: Db,
  filter: PayoutFilter,
  limit: number,
  after?: bigint,
): AsyncGenerator<ListedPayout[]> {
  let left = limit;
  let before = after;
  while (left > 0) {
    const size = Math.min(left, pageSize);
    const page = await payoutPage(db, filter, size, before);
    if (page.length > 0) yield page;
    if (page.length < size) return;
    left -= size;
    before = page.at(-1)?.id;
  }
}

/** Finds the ids first: of a large batch they come from the index alone. */
function payoutPage(
  db: Db,
  filter: PayoutFilter,
  size: number,
  before: bigint | undefined,
): Promise<ListedPayout[]> {
  const ids = matching(db, filter)
    .$if(before !== undefined, (q) => q.where('p.id', '<', before ?? 0n))
    .select('p.id as key')
    .orderBy('p.id', 'desc')
    .limit(size);
  return db
    .selectFrom(ids.as('k'))
    .innerJoin('payouts as p', 'p.id', 'k.key')
    .select(columns.map((column) => `p.${column}` as const))
    .select(
      sql<string | null>`(select h.at from history h where h.payout_id = p.id and h.seq = 1)`.as(
        'taken_in_at',
      ),
    )
    .orderBy('k.key', 'desc')
    .execute();
}

/** How many payouts match, and their minor units, by currency and how they count. */
export async function sumPayouts(
  db: Db,
  filter: PayoutFilter,
): Promise<{ currency: string; state: CountedState; count: number; minor: bigint }[]> {
  const rows = await matching(db, filter)
    .select(['p.currency', 'p.state', (eb) => eb.fn.countAll<bigint>().as('n')])
    .select(sql<bigint>`sum(p.amount)`.as('amount'))
    .groupBy(['p.currency', 'p.state'])
    .orderBy('p.currency')
    .orderBy('p.state')
    .execute();
  const replaced = await replacedSums(db, sql`p.id in (${matching(db, filter).select('p.id')})`);
  return recounted(rows, replaced).map(({ currency, state, n, amount }) => {
    return { currency, state, count: Number(n), minor: amount };
  });
}

/** References that begin so, in their order, whatever their case. */
export async function referencesBeginning(db: Db, beginning: string, limit: number): Promise<string[]> {
  const rows = await matching(db, { reference: beginning })
    .select('p.reference')
    .orderBy('p.reference_key')
    .limit(limit)
    .execute();
  return rows.map(({ reference }) => reference);
}

type Matching = SelectQueryBuilder<Tables & { p: Tables['payouts'] }, 'p', object>;

function matching(db: Db, filter: PayoutFilter): Matching {
  const { state, batch, currency, since, until, reference, bank, amount, search } = filter;
  let found: Matching = db.selectFrom('payouts as p');
  if (state !== undefined) found = found.where('p.state', '=', state);
  if (batch !== undefined) found = found.where('p.batch_id', '=', batch);
  if (currency !== undefined) found = found.where('p.currency', '=', currency);
  if (bank !== undefined) found = found.where('p.bank_code', '=', bank);
  if (since !== undefined) found = found.where(isSince(since));
  if (until !== undefined) found = found.where(sql<boolean>`not ${isSince(until)}`);
  // Without a currency, one with two digits, as most have.
  if (amount !== undefined)
    found = found.where('p.amount', '=', decimalToMinor(amount, currency ?? 'NGN') ?? -1n);
  if (search !== undefined && search !== '') found = found.where(isFound(search));
  if (reference !== undefined) {
    const key = foldReference(reference);
    // A reference holds letters, digits, `_` and `-`; `~` sorts behind each of them.
    found = found.where('p.reference_key', '>=', key).where('p.reference_key', '<', `${key}~`);
  }
  return found;
}

/** So many of the newest payouts are searched for a name: more would delay the page. */
export const namesSearched = 100_000;

/** Each part but the name has an index of its own. */
function isFound(text: string) {
  const key = foldReference(text);
  const name = `%${text.toLowerCase().replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
  const named = sql`select q.id from payouts q
    where q.id > (select coalesce(max(n.id), 0) - ${namesSearched} from payouts n)
      and lower(q.account_name) like ${name} escape '\\'`;
  return sql<boolean>`p.id in (
    select id from payouts where reference_key >= ${key} and reference_key < ${`${key}~`}
    union select id from payouts where account_number = ${text}
    union select id from payouts where transfer_id = ${text}
    union select id from payouts where trx = ${text}
    ${/\p{L}{2}/u.test(text) ? sql`union ${named}` : sql``})`;
}

/** A successor is taken in when it is ordered, long after the batch of its original. */
function isSince(since: string) {
  return sql<boolean>`(
    p.batch_id in (select id from batches where created_at >= ${since})
    or (p.successor_of is not null and exists (
      select 1 from history h where h.payout_id = p.id and h.seq = 1 and h.at >= ${since})))`;
}
