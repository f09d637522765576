import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { foldReference } from '../domain/ids.ts';
import { decimalToMinor } from '../domain/money.ts';
import type { CountedState, PayoutState } from '../domain/payout.ts';
import { idList, textsOf } from '../storage/bulk.ts';
import type { Db } from '../storage/ledger.ts';
import { unseen } from '../storage/prepared.ts';
import type { Payout, Tables } from '../storage/tables/tables.ts';
import { isNotPaidAgain, recounted, replacedSums } from './replaced.ts';
import { stateSums } from './state-sums.ts';

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
  /** Without those that a later payout pays again (P20). */
  notPaidAgain?: true | undefined;
  /** Only these. */
  ids?: readonly bigint[] | undefined;
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

/**
 * When `p` was recorded. An archive takes the first entry of the history away: then a successor says when it was first sent,
 * any other payout when its batch was taken in.
 */
const takenInAt = sql<string | null>`coalesce(
  (select h.at from history h where h.payout_id = p.id and h.seq = 1),
  case when p.successor_of is not null then p.submitted_at end,
  (select b.created_at from batches b where b.id = p.batch_id and b.archive_id is not null))`;

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
  return rowsOf(db, newestIds(db, filter, size, before));
}

function newestIds(db: Db, filter: PayoutFilter, limit: number, before?: bigint) {
  return matching(db, filter)
    .$if(before !== undefined, (q) => q.where('p.id', '<', before ?? 0n))
    .select('p.id as key')
    .orderBy('p.id', 'desc')
    .limit(limit);
}

function rowsOf(db: Db, ids: ReturnType<typeof newestIds>): Promise<ListedPayout[]> {
  return db
    .selectFrom(ids.as('k'))
    .innerJoin('payouts as p', 'p.id', 'k.key')
    .select(columns.map((column) => `p.${column}` as const))
    .select(takenInAt.as('taken_in_at'))
    .orderBy('k.key', 'desc')
    .execute();
}

/** How many payouts match, and their minor units, by currency and how they count. */
export type PayoutSums = { currency: string; state: CountedState; count: number; minor: bigint }[];

export function sumPayouts(db: Db, filter: PayoutFilter): Promise<PayoutSums> {
  return isKept(filter) ? sumKept(db, filter) : sumWhere(db, conditionsOf(filter));
}

/** The first page of a list, with its sums; null where more than `most` match, and no kept totals say how many. */
export async function payoutsWithSums(
  db: Db,
  filter: PayoutFilter,
  { limit, most }: { limit: number; most: number },
): Promise<{ rows: ListedPayout[]; sums: PayoutSums | null }> {
  if (isKept(filter)) {
    const sums = await sumKept(db, filter);
    // A search that finds nothing would read every payout.
    return { rows: sums.length === 0 ? [] : await payoutPage(db, filter, limit, undefined), sums };
  }
  const found = await newestIds(db, filter, most + 1).execute();
  const ids = found.map(({ key }) => key);
  const rows: ListedPayout[] = [];
  if (ids.length > 0) {
    const first = { ids: ids.slice(0, limit) };
    rows.push(...(await rowsOf(db, newestIds(db, first, limit))));
  }
  return { rows, sums: ids.length > most ? null : await sumWhere(db, conditionsOf({ ids })) };
}

/** Whether the kept totals of batches answer, without a look at each payout. */
function isKept({ bank, amount, search, reference, notPaidAgain, ids }: PayoutFilter): boolean {
  return [bank, amount, search || undefined, reference, notPaidAgain, ids].every((one) => one === undefined);
}

/** Sums the kept totals of whole batches. A successor has a time of its own: there are few, and each is looked at. */
async function sumKept(db: Db, filter: PayoutFilter): Promise<PayoutSums> {
  const { state, batch, currency, since, until } = filter;
  const batches = await db
    .selectFrom('batches')
    .select('id')
    .$if(batch !== undefined, (q) => q.where('id', '=', batch ?? ''))
    .$if(since !== undefined, (q) => q.where('created_at', '>=', since ?? ''))
    .$if(until !== undefined, (q) => q.where('created_at', '<', until ?? ''))
    .execute();
  const ids = batches.map(({ id }) => id);
  const fits = (one: Group): boolean =>
    (state === undefined || one.state === state) && (currency === undefined || one.currency === currency);
  const kept = (await stateSums(db, ids)).filter(fits);
  const isTimed = since !== undefined || until !== undefined;
  const isSuccessor = sql<boolean>`p.successor_of is not null`;
  // By the index of successors, not that of batches.
  const isOfThem = sql<boolean>`${unseen(sql.ref<string>('p.batch_id'))} in ${textsOf(ids)}`;
  const apart = isTimed ? await groupsWhere(db, [isSuccessor, isOfThem]) : [];
  const timed = isTimed ? await groupsWhere(db, [isSuccessor, ...conditionsOf(filter)]) : [];
  const less = apart.filter(fits).map((one) => ({ ...one, n: -one.n, amount: -one.amount }));
  return counted(db, added([...kept, ...less, ...timed]), conditionsOf(filter));
}

async function sumWhere(db: Db, conditions: readonly Condition[]): Promise<PayoutSums> {
  return counted(db, await groupsWhere(db, conditions), conditions);
}

type Group = { currency: string; state: PayoutState; n: bigint; amount: bigint };

async function groupsWhere(db: Db, conditions: readonly Condition[]): Promise<Group[]> {
  const rows = await whereAll(db, conditions)
    .select(['p.currency', 'p.state', (eb) => eb.fn.countAll<bigint>().as('n')])
    .select(sql<bigint>`sum(p.amount)`.as('amount'))
    .groupBy(['p.currency', 'p.state'])
    .orderBy('p.currency')
    .orderBy('p.state')
    .execute();
  return rows.map((row) => ({ ...row, n: BigInt(row.n), amount: BigInt(row.amount) }));
}

/** Groups of the same currency and state as one. */
function added(groups: readonly Group[]): Group[] {
  const found = new Map<string, Group>();
  for (const { currency, state, n, amount } of groups) {
    const key = `${currency} ${state}`;
    const known = found.get(key);
    found.set(key, { currency, state, n: (known?.n ?? 0n) + n, amount: (known?.amount ?? 0n) + amount });
  }
  return [...found].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
}

async function counted(
  db: Db,
  groups: readonly Group[],
  conditions: readonly Condition[],
): Promise<PayoutSums> {
  const of = conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
  return recounted(groups, await replacedSums(db, of)).map(({ currency, state, n, amount }) => {
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

type Condition = RawBuilder<boolean>;

function matching(db: Db, filter: PayoutFilter): Matching {
  return whereAll(db, conditionsOf(filter));
}

function whereAll(db: Db, conditions: readonly Condition[]): Matching {
  return conditions.reduce<Matching>((found, one) => found.where(one), db.selectFrom('payouts as p'));
}

/** What a payout `p` of the list is. */
function conditionsOf(filter: PayoutFilter): Condition[] {
  const { state, batch, currency, since, until, reference, bank, amount, search, ids } = filter;
  const all: Condition[] = [];
  if (ids !== undefined) all.push(sql`p.id in ${idList(ids)}`);
  if (state !== undefined) all.push(sql`p.state = ${state}`);
  if (batch !== undefined) all.push(sql`p.batch_id = ${batch}`);
  if (state !== undefined && batch !== undefined) all.push(isNear(batch));
  if (currency !== undefined) all.push(sql`p.currency = ${currency}`);
  if (bank !== undefined) all.push(sql`p.bank_code = ${bank}`);
  if (since !== undefined) all.push(isSince(since));
  if (until !== undefined) all.push(sql`not ${isSince(until)}`);
  // Without a currency, one with two digits, as most have.
  if (amount !== undefined) all.push(isOf(decimalToMinor(amount, currency ?? 'NGN') ?? -1n));
  if (search !== undefined && search !== '') all.push(isFound(search));
  if (filter.notPaidAgain) all.push(isNotPaidAgain);
  if (reference !== undefined) {
    const key = foldReference(reference);
    // A reference holds letters, digits, `_` and `-`; `~` sorts behind each of them.
    all.push(sql`p.reference_key >= ${key} and p.reference_key < ${`${key}~`}`);
  }
  return all;
}

/** An index that holds amounts is read whole: it is a twentieth of the table. */
function isOf(minor: bigint): Condition {
  return sql`p.id in (select x.id from payouts x where x.amount = ${minor})`;
}

/** Between the first and the last id of a batch: the index of states is not read from its newest payout on. */
function isNear(batch: string): Condition {
  const idOf = (which: 'min' | 'max') =>
    sql`(select ${sql.raw(which)}(x.id) from payouts x where x.batch_id = ${batch})`;
  return sql`p.id >= ${idOf('min')} and p.id <= ${idOf('max')}`;
}

/** So many of the newest payouts are searched for a name: more would delay the page. */
export const namesSearched = 100_000;

/** Each part but the name has an index of its own. */
function isFound(text: string) {
  const key = foldReference(text);
  return sql<boolean>`p.id in (
    select id from payouts where reference_key >= ${key} and reference_key < ${`${key}~`}
    union select id from payouts where account_number = ${text}
    union select id from payouts where transfer_id = ${text}
    union select id from payouts where trx = ${text}
    ${isNameLike(text) ? sql`union select q.id from payouts q where ${isNamed(text)}` : sql``})`;
}

/** Whether a text that is searched may be a part of a name. */
export function isNameLike(text: string): boolean {
  return /\p{L}{2}/u.test(text);
}

/** A condition on the payouts `q`: the text is a part of the beneficiary's name, among the newest. */
export function isNamed(text: string): Condition {
  const name = `%${text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
  return sql`q.id > (select coalesce(max(n.id), 0) - ${namesSearched} from payouts n)
    and lower(q.account_name) like lower(${name}) escape '\\'`;
}

/** A successor is taken in when it is ordered, long after the batch of its original. */
function isSince(since: string) {
  return sql<boolean>`(
    p.batch_id in (select id from batches where created_at >= ${since})
    or (p.successor_of is not null and ${takenInAt} >= ${since}))`;
}
