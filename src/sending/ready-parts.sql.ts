import { sql } from 'kysely';
import { fileMayGo } from '../core/ledger/batch-files.ts';
import { farAhead } from '../core/ledger/projection.ts';
import { idList } from '../core/storage/bulk.ts';
import type { Db } from '../core/storage/ledger.ts';
import { asksForPayees, isApproved } from './approved.sql.ts';
import { type ClaimScope, throughDay, type Under } from './claim-request.ts';
import { isOver, type Lanes } from './lanes.sql.ts';
import { isChecked } from './precheck.sql.ts';
import { lanesATurn, ofLane, openLanes, sentBefore } from './ready.sql.ts';

/**
 * The payouts of one batch in one currency that no brake of the batch keeps back: those never sent, or those that need an
 * answer of the service first (P31). Each part has its own first payout, and waits where a day's limit does not let that
 * one go.
 */
export type ReadyPart = {
  currency: string;
  again: boolean;
  count: number;
  minor: bigint;
  /** When its first pause ends; null: now. */
  nextAt: string | null;
  waits: null | 'daily limit';
};

/** Returns the parts of what is ready, as far as `lanes` lets it go. */
export async function readyParts(
  db: Db,
  only: ClaimScope & Under,
  lanes: Lanes | null,
): Promise<ReadyPart[]> {
  const open = lanes && openLanes(lanes).slice(0, lanesATurn);
  if (open?.length === 0) return [];
  const pausedUntil = sql<
    string | null
  >`case when payouts.turned_away_until > ${only.at} and payouts.turned_away_until <= ${farAhead(only.at)} then payouts.turned_away_until end`;
  const isAgain = sql<bigint>`case when ${sentBefore} then 1 else 0 end`;
  const rows = await db
    .selectFrom('payouts')
    .innerJoin('batches', 'batches.id', 'payouts.batch_id')
    .select((eb) => [
      'payouts.currency',
      isAgain.as('again'),
      eb.fn.countAll<bigint>().as('count'),
      eb.fn.sum<bigint>('payouts.amount').as('minor'),
      sql<string>`min(coalesce(${pausedUntil}, ''))`.as('next_at'),
      sql<bigint | null>`min(case when ${pausedUntil} is null then payouts.id end)`.as('head'),
    ])
    .where('payouts.state', '=', 'ready')
    .where('payouts.pay_on', '<=', throughDay(only))
    .where('batches.phase', '=', 'loaded')
    .where('batches.held', '=', 0n)
    .where(fileMayGo)
    .where(isApproved(only.brakes))
    .$if(only.brakes.looksAhead === true, (q) => q.where(isChecked))
    .$if(only.batches !== undefined, (q) => q.where('payouts.batch_id', 'in', [...(only.batches ?? [])]))
    .$if(only.payouts !== undefined, (q) => q.where('payouts.id', 'in', [...(only.payouts ?? [])]))
    .$if(open !== null, (q) => q.where((eb) => eb.or((open ?? []).map(ofLane))))
    .groupBy(['payouts.batch_id', 'payouts.currency', isAgain])
    .having(sql<boolean>`not ${asksForPayees(only.brakes, sql.ref('payouts.batch_id'))}`)
    .execute();
  const amounts = await amountsOf(
    db,
    rows.flatMap(({ head }) => head ?? []),
  );
  return rows.map(({ currency, again, count, minor, next_at, head }) => ({
    currency,
    again: again === 1n,
    count: Number(count),
    minor,
    nextAt: next_at || null,
    waits: isOver({ currency, amount: amounts.get(head ?? -1n) ?? null }, lanes?.use ?? null)
      ? 'daily limit'
      : null,
  }));
}

async function amountsOf(db: Db, ids: readonly bigint[]): Promise<Map<bigint, bigint>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('payouts')
    .select(['id', 'amount'])
    .where('id', 'in', idList(ids))
    .execute();
  return new Map(rows.map(({ id, amount }) => [id, amount]));
}
