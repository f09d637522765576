import { type RawBuilder, sql } from 'kysely';
import type { ListedRow } from '../core/domain/pair-conflicts.ts';
import { type Mode, openStates } from '../core/domain/payout.ts';
import { isUsable, type ListStanding } from '../core/domain/verdict.ts';
import { type PayoutRange, payoutRanges } from '../core/ledger/payout-ranges.ts';
import { idList } from '../core/storage/bulk.ts';
import { jsonText } from '../core/storage/dialect.ts';
import { keyset } from '../core/storage/keyset.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import type { Move, Span } from './book.ts';

/** A keyset page: small enough to stay flat in memory, large enough to cost little per row. */
const pageSize = 500;

/**
 * The listing that represents the service. A short cut (P29) adds older rows from a whole listing: those of `base` created
 * before its `edge`, unless the run shows the transfer itself.
 */
export type UsedListing = {
  run: string;
  base: { run: string; edge: string } | null;
  startedAt: string;
  /** The newest history entry when the reading began. */
  mark: bigint;
  /** How far it can be used; null when the run ended before that was known. */
  standing: ListStanding | null;
  /** A send that ended after this instant need not be listed yet (P28), ISO UTC. */
  endedBy: string;
  /** A send recorded as ended after this instant has a wrong clock, which excuses nothing (P33), ISO UTC. */
  stampsUntil: string;
};

/** The input of a statement: the history in `span`, known up to `known`, and one listing. */
export type StatementScope = {
  mode: Mode;
  span: Span;
  known: bigint;
  listing: UsedListing | null;
  /** Nothing created before this instant is foreign money. */
  since: string;
  /** For a closed month: transfers without a payout created from then on belong to the next month. */
  until: string | null;
};

const payoutColumns = [
  'id',
  'reference',
  'batch_id',
  'row_number',
  'account_number',
  'account_name',
  'bank_code',
  'amount',
  'currency',
  'transfer_id',
  'trx',
  'fee',
  'submitted_at',
  'settled_at',
  'evidence',
] as const;

/** Where there is no listing, nothing is asked of its mode. */
type PayoutScope = StatementScope | (Omit<StatementScope, 'mode' | 'listing'> & { listing: null });

export type StatedPayout = Pick<Payout, (typeof payoutColumns)[number]>;

export type ListedPart = Omit<ListedRow, 'trx' | 'fee' | 'updated_at'> & {
  /** A closed month has counted it. */
  counted: boolean;
  /** It has the payout's reference, but is not proven to be its transfer (P15). */
  collides: boolean;
  /** It collides because the payout never went to the account that lists it (P31). */
  others: boolean;
};

export type PayoutFacts = { payout: StatedPayout; moves: Move[]; listed: ListedPart[] };

/**
 * Yields every payout of the span, in intake order, a page at a time. A span from the ledger's beginning has all payouts.
 * A span after a closed month has those that moved since, are unfinished, are newly listed, or are not listed as the
 * books have them: what a month has closed is still held against today's list.
 */
export async function* payoutFacts(db: Db | Trx, scope: PayoutScope): AsyncGenerator<PayoutFacts[]> {
  for await (const range of payoutRanges(db))
    for (let { after } = range; ; ) {
      const ids = await idsIn(db, scope, { ...range, after });
      const last = ids.at(-1);
      if (last === undefined) break;
      after = last;
      const page = await load(db, scope, ids);
      if (page.length > 0) yield page;
    }
}

async function idsIn(db: Db | Trx, scope: PayoutScope, { after, upTo }: PayoutRange): Promise<bigint[]> {
  const among = scope.span.from === 0n ? sql`` : sql`and (${isInSpan(scope)})`;
  const { rows } = await sql<{ id: bigint }>`select p.id from payouts p
    where p.id > ${after} and p.id <= ${upTo} ${among} order by p.id limit ${pageSize}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Whether payout `p` belongs to a span after a closed month. The plus signs keep SQLite on the payout's own rows. */
function isInSpan(scope: PayoutScope): RawBuilder<unknown> {
  // They belong to every span, however old they are.
  const open = sql`p.state in (${sql.join(openStates)})`;
  const moved = sql`exists (select 1 from history h where h.payout_id = p.id and +h.id > ${scope.span.from})`;
  if (scope.listing === null) return sql.join([open, moved], sql` or `);
  const { listing, mode } = scope;
  const news = sql`exists (select 1 from listed l indexed by listed_payout
    where l.run_id = ${listing.run} and l.payout_id = p.id and not ${isCounted})`;
  return sql.join(
    [open, moved, news, ...(isUsable(listing.standing) ? [isOdd(listing, mode)] : [])],
    sql` or `,
  );
}

/**
 * Whether the list may not show payout `p` as the books have it: anything but one plain transfer of what was paid, anything
 * but failures of what was not, or a reference that collides. The statement then says what differs, if anything.
 */
function isOdd(listing: UsedListing, mode: Mode): RawBuilder<unknown> {
  const asPaid = sql`l.amount = p.amount and l.currency = p.currency and l.reference_key = p.reference_key
    and lower(l.status) in ('success', 'pending') and coalesce(lower(l.domain), ${mode}) = ${mode}`;
  const asUnpaid = sql`l.amount is not null and lower(l.status) = 'failed'`;
  const weight = sql`case when p.state in ('success', 'returned') then case when ${asPaid} then 1 else 2 end
    when ${asUnpaid} then 0 else 2 end`;
  const weigh = (run: string, also: RawBuilder<unknown>): RawBuilder<unknown> => sql`coalesce((
    select sum(${weight}) from listed l indexed by listed_payout
    where l.run_id = ${run} and l.payout_id = p.id ${also}), 0)`;
  const { run, base } = listing;
  const older = base ? sql` + ${weigh(base.run, sql`and ${notShownAgain(listing)}`)}` : sql``;
  return sql`(${weigh(run, sql``)}${older}) <> case when p.state in ('success', 'returned') then 1 else 0 end
    or exists (select 1 from discrepancies d where d.payout_id = p.id and d.kind = 'reference_collision')`;
}

const isCounted: RawBuilder<unknown> = sql`exists (
  select 1 from period_transfers t where t.transfer_id = l.transfer_id)`;

async function load(db: Db | Trx, scope: PayoutScope, ids: bigint[]): Promise<PayoutFacts[]> {
  const among = idList(ids);
  const payouts = await db
    .selectFrom('payouts')
    .select(payoutColumns)
    .where('id', 'in', among)
    .orderBy('id')
    .execute();
  // Entries that moved nothing are left out, except those that reported a fee. An archived payout begins with its last
  // entry before that: the archive has how it came there.
  const moves = await sql<Move & { payout_id: bigint }>`
    select h.payout_id, h.id, h.at, case when h.seq = p.archived_seq then 'archived' else h.event end as event,
      h.to_state as "to", case when h.seq = p.archived_seq then p.fee else ${jsonText(sql`h.detail`, 'fee')} end as fee
    from history h join payouts p on p.id = h.payout_id
    where h.payout_id in ${among} and h.id <= ${scope.known} and h.seq >= coalesce(p.archived_seq, 0)
      and (h.seq = p.archived_seq or coalesce(h.from_state, '') <> h.to_state or h.detail like '%"fee":%')
    order by h.payout_id, h.seq`.execute(db);
  const listed = await listedOf(db, scope, among);
  const movesOf = Map.groupBy(moves.rows, (row) => row.payout_id);
  const listedBy = Map.groupBy(listed, (row) => row.payout_id);
  return payouts.map((payout) => ({
    payout,
    moves: movesOf.get(payout.id) ?? [],
    listed: listedBy.get(payout.id) ?? [],
  }));
}

const listedColumns = sql`l.transfer_id, l.reference, l.currency, l.amount, l.amount_text, l.account_number,
  l.bank_code, l.domain, l.status, l.created_at, l.payout_id`;

const collides: RawBuilder<unknown> = sql`exists (
  select 1 from discrepancies d where d.payout_id = l.payout_id and d.kind = 'reference_collision'
    and d.transfer_id = l.transfer_id and (d.state <> 'resolved' or d.last_run_id = l.run_id))`;

const others: RawBuilder<unknown> = sql`(${collides}
  and exists (select 1 from attempts a where a.payout_id = l.payout_id)
  and not exists (select 1 from attempts a join runs r on r.id = l.run_id
    where a.payout_id = l.payout_id and a.origin_id = r.origin_id))`;

const flags = sql`${isCounted} as counted, ${collides} as collides, ${others} as others`;

type Flag = 'counted' | 'collides' | 'others';
type FlaggedRow = Omit<ListedPart, Flag> & Record<Flag, bigint> & { payout_id: bigint };

/** The index is named because SQLite, without statistics, takes the primary key's first column and reads the whole listing. */
async function listedOf(db: Db | Trx, scope: Pick<PayoutScope, 'listing'>, among: RawBuilder<bigint>) {
  const { listing } = scope;
  if (listing === null) return [];
  const { base } = listing;
  const older = sql`union all select ${listedColumns}, ${flags} from listed l indexed by listed_payout
    where l.run_id = ${base?.run ?? ''} and l.payout_id in ${among} and ${notShownAgain(listing)}`;
  const { rows } = await sql<FlaggedRow>`
    select ${listedColumns}, ${flags} from listed l indexed by listed_payout
    where l.run_id = ${listing.run} and l.payout_id in ${among} ${base ? older : sql``}
    order by payout_id, transfer_id`.execute(db);
  const isSet = (flag: bigint): boolean => flag === 1n;
  return rows.map((row) => ({
    ...row,
    counted: isSet(row.counted),
    collides: isSet(row.collides),
    others: isSet(row.others),
  }));
}

/** A row of the base listing, used where a short cut did not look. */
const notShownAgain = ({
  run,
  base,
}: UsedListing): RawBuilder<unknown> => sql`l.created_at < ${base?.edge ?? ''}
  and not exists (select 1 from listed n where n.run_id = ${run} and n.transfer_id = l.transfer_id)`;

/** Listed transfers that no payout of ours explains, by transfer id, and whether a closed month has counted them. */
export async function* foreignFacts(db: Db | Trx, scope: StatementScope): AsyncGenerator<ListedPart[]> {
  const { listing } = scope;
  if (listing === null) return;
  yield* foreignOf(db, scope, listing.run, sql``);
  if (listing.base) yield* foreignOf(db, scope, listing.base.run, sql`and ${notShownAgain(listing)}`);
}

function foreignOf(
  db: Db | Trx,
  scope: StatementScope,
  run: string,
  also: RawBuilder<unknown>,
): AsyncGenerator<ListedPart[]> {
  const before = scope.until === null ? sql`` : sql`and l.created_at < ${scope.until}`;
  return keyset<ListedPart>(pageSize, async (last) => {
    const { rows } = await sql<Omit<ListedPart, Flag> & { counted: bigint }>`
      select ${listedColumns}, ${isCounted} as counted from listed l
      where l.run_id = ${run} and l.transfer_id > ${last?.transfer_id ?? ''} and l.payout_id is null
        and coalesce(lower(l.domain), ${scope.mode}) = ${scope.mode} ${before} ${also}
        and (l.created_at >= ${scope.since} or l.created_at = '')
      order by l.transfer_id limit ${pageSize}`.execute(db);
    return rows.map((row) => ({ ...row, counted: row.counted === 1n, collides: false, others: false }));
  });
}
