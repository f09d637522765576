import type { CreationOrder } from '../../core/domain/list-order.ts';
import { openStates, type PayoutState } from '../../core/domain/payout.ts';
import { findBarrier } from '../../core/ledger/barriers.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { ListingResult } from './completeness.ts';
import { latestRunFirst, newestCompleteRun, type TransferRange, transferRanges } from './listings.sql.ts';

/** The complete listing that a short cut may build on (P29): the order it saw, and the instant up to which it is proven. */
export type Base = { run: string; order: CreationOrder; cut: string };

/**
 * The newest complete listing of the account, if it saw a creation order hold and nothing demands a full listing (P25).
 * `foreign`, here and below: the origins of other accounts, as in {@link newestCompleteRun}.
 */
export async function trustedBase(db: Db, foreign: readonly bigint[]): Promise<Base | undefined> {
  if (await findBarrier(db)) return undefined;
  const complete = await newestCompleteRun(db, foreign);
  if (!complete) return undefined;
  const run = await db
    .selectFrom('runs')
    .select(['list_order', 'list_cut'])
    .where('id', '=', complete.id)
    .executeTakeFirst();
  const order = run?.list_order;
  if (!run?.list_cut || (order !== 'newest_first' && order !== 'oldest_first')) return undefined;
  return { run: complete.id, order, cut: run.list_cut };
}

/** How many rows of the base were created before the edge, and at or after `from` where the service removed older ones. */
export async function olderRows(db: Db, base: string, edge: string, from = ''): Promise<number> {
  let older = 0;
  for await (const { after, upTo } of transferRanges(db, base)) {
    const row = await db
      .selectFrom('listed')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('run_id', '=', base)
      .where('transfer_id', '>', after)
      .$if(upTo !== null, (query) => query.where('transfer_id', '<=', upTo))
      .where('created_at', '<', edge)
      .where('created_at', '>=', from)
      .executeTakeFirstOrThrow();
    older += Number(row.n);
  }
  return older;
}

/** A payout that may still move, with the fields that the list of pending transfers shows. */
export type OpenPayout = {
  state: PayoutState;
  reference_key: string;
  amount: bigint;
  currency: string;
  account_number: string;
  bank_code: string;
  submitted_at: string | null;
};

/** Payouts first sent before this instant that may still move, the oldest first. */
export function openBefore(db: Db, before: string, limit: number): Promise<OpenPayout[]> {
  return db
    .selectFrom('payouts')
    .select(['state', 'reference_key', 'amount', 'currency', 'account_number', 'bank_code', 'submitted_at'])
    .where('state', 'in', openStates)
    .where('submitted_at', '<', before)
    .orderBy('submitted_at')
    .limit(limit)
    .execute();
}

/** Stores with the run what its listing proved; `order`: the order that later runs may rely on. */
export async function noteListing(
  trx: Trx,
  run: string,
  { complete, cut, window }: ListingResult,
  order: ListingResult['order'] | 'distrusted',
): Promise<void> {
  await trx
    .updateTable('runs')
    .set({
      list_order: complete === true ? (order ?? null) : null,
      list_cut: complete === false ? null : cut,
      edge: complete === 'window' ? (window?.edge ?? null) : null,
      base_run_id: complete === 'window' ? (window?.base ?? null) : null,
    })
    .where('id', '=', run)
    .execute();
}

/** No more are kept: with so many, their runs have checked each other. */
const mostUnchecked = 8;

export type ShortCut = { id: string; edge: string; cut: string };

/** The latest short cuts that no full listing has checked yet. */
export async function uncheckedShortCuts(db: Db, foreign: readonly bigint[]): Promise<ShortCut[]> {
  const base = await newestCompleteRun(db, foreign);
  if (!base) return [];
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'edge', 'list_cut'])
    .where('base_run_id', '=', base.id)
    .where('finished_at', 'is not', null)
    .orderBy(latestRunFirst)
    .limit(mostUnchecked)
    .execute();
  return rows.flatMap(({ id, edge, list_cut: cut }) =>
    edge === null || cut === null ? [] : [{ id, edge, cut }],
  );
}

/** Counting stops here: the order is not what it seemed. */
const mostMissed = 10_000;

/** P29: how many transfers of a full listing are missing from a short cut since the previous one that should have them. */
export async function missedByShortCuts(db: Db, run: string, foreign: readonly bigint[]): Promise<number> {
  const missed = new Set<string>();
  const shortCuts = await uncheckedShortCuts(db, foreign);
  if (shortCuts.length === 0) return 0;
  for await (const range of transferRanges(db, run)) {
    for (const shortCut of shortCuts)
      for (const id of await missedIn(db, run, range, shortCut)) missed.add(id);
    if (missed.size >= mostMissed) return mostMissed;
  }
  return missed.size;
}

async function missedIn(
  db: Db,
  run: string,
  { after, upTo }: TransferRange,
  shortCut: ShortCut,
): Promise<string[]> {
  const rows = await db
    .selectFrom('listed as l')
    .select('l.transfer_id')
    .where('l.run_id', '=', run)
    .where('l.transfer_id', '>', after)
    .$if(upTo !== null, (query) => query.where('l.transfer_id', '<=', upTo))
    .where('l.created_at', '>=', shortCut.edge)
    .where('l.created_at', '<=', shortCut.cut)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('listed as s')
            .select('s.transfer_id')
            .where('s.run_id', '=', shortCut.id)
            .whereRef('s.transfer_id', '=', 'l.transfer_id'),
        ),
      ),
    )
    .execute();
  return rows.map((row) => row.transfer_id);
}

/** True when the newest complete listing found that short cuts had missed rows; only a `--full` run restores trust. */
export async function orderDistrusted(db: Db, foreign: readonly bigint[]): Promise<boolean> {
  const complete = await newestCompleteRun(db, foreign);
  if (!complete) return false;
  const run = await db
    .selectFrom('runs')
    .select('list_order')
    .where('id', '=', complete.id)
    .executeTakeFirst();
  return run?.list_order === 'distrusted';
}
