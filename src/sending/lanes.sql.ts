import { sql } from 'kysely';
import { farAhead } from '../core/ledger/projection.ts';
import { idList } from '../core/storage/bulk.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Brakes } from './brakes.ts';
import { canaryResult, standingCanaries } from './canaries.sql.ts';
import { type DailyUse, dailyUse } from './limits.sql.ts';

/** The ready payouts of one batch in one currency, and what they wait for. */
export type Lane = {
  batch: string;
  currency: string;
  /** The newest payout that may go before the canary has settled; null: all of them. */
  throughId: bigint | null;
  waits: null | 'canary' | 'failed canary' | 'daily limit';
};

/** What `lanesOf` found; `use` is null where no limit is set. */
export type Lanes = { lanes: Lane[]; use: DailyUse | null };

type Ask = {
  brakes: Brakes;
  at: string;
  batches?: readonly string[];
  payouts?: readonly bigint[];
};

/** True where the configuration alone requires lanes, whatever stands in the ledger. */
export function usesLanes(brakes: Brakes): boolean {
  return brakes.canary > 0 || Object.keys(brakes.dailyLimit).length > 0;
}

/**
 * Returns what is ready, by batch and currency, in the order of the first payout of each. Each lane says what keeps it
 * back: a canary that has not settled, or a day's limit that the next payout exceeds (P21). Null where no brake is in
 * use, so that unused brakes cost nothing. The cost does not grow with what waits: only the first of each lane is read.
 */
export async function lanesOf(db: Db | Trx, ask: Ask): Promise<Lanes | null> {
  const { brakes, at, batches } = ask;
  const limited = Object.keys(brakes.dailyLimit).length > 0;
  const canaries = await standingCanaries(db);
  if (!usesLanes(brakes) && canaries.length === 0) return null;
  const closed = new Map<string, { throughId: bigint; failed: boolean }>();
  for (const canary of canaries) {
    const verdict =
      canary.state === 'failed' ? null : await canaryResult(db, canary, { at, hours: brakes.canaryHours });
    if (verdict?.kind === 'passed') continue;
    const failed = verdict === null || verdict.kind === 'failed';
    closed.set(canary.batch, { throughId: canary.throughId, failed });
  }
  const use = limited ? await dailyUse(db, { brakes, at }) : null;
  const heads = await headsOf(db, ask);
  const wanted = batches ? heads.filter(({ batch }) => batches.includes(batch)) : heads;
  const lanes = wanted.map(({ batch, currency, firstId, nextId, amount }): Lane => {
    const canary = closed.get(batch);
    const throughId = canary?.throughId ?? null;
    if (canary && firstId > canary.throughId)
      return { batch, currency, throughId, waits: canary.failed ? 'failed canary' : 'canary' };
    const beyond = throughId !== null && nextId !== null && nextId > throughId;
    const waits = !beyond && isOver({ currency, amount }, use) ? 'daily limit' : null;
    return { batch, currency, throughId, waits };
  });
  return { lanes, use };
}

/** True where a payout must wait for the next day. One above a whole day's limit does not wait: the claim holds it. */
export function isOver(
  { currency, amount }: { currency: string; amount: bigint | null },
  use: DailyUse | null,
): boolean {
  const limit = use?.limits.get(currency);
  if (!use || limit === undefined || amount === null || amount > limit) return false;
  return amount > (use.left.get(currency) ?? 0n);
}

type Head = {
  batch: string;
  currency: string;
  /** `firstId`: the first that is ready. `nextId`, `amount`: the first that may be claimed now; null where none may. */
  firstId: bigint;
  nextId: bigint | null;
  amount: bigint | null;
};

/** The heads of what is ready, by batch and currency. Each costs two index steps, however many payouts are ready. */
export async function headsOf(db: Db | Trx, { at, payouts }: Pick<Ask, 'at' | 'payouts'>): Promise<Head[]> {
  const only = payouts ? sql` and p.id in ${idList(payouts)}` : sql``;
  const isReady = sql`p.state = 'ready'${only}`;
  const own = sql`${isReady} and p.batch_id = substr(k.name, 4) and p.currency = substr(k.name, 1, 3)`;
  const claimable = sql`(p.turned_away_until is null
    or not (p.turned_away_until > ${at} and p.turned_away_until <= ${farAhead(at)}))`;
  const { rows } = await sql<{
    name: string;
    first_id: bigint;
    next_id: bigint | null;
    amount: bigint | null;
  }>`with recursive k (name) as (
      select (select p.currency || p.batch_id from payouts as p where ${isReady}
        order by p.batch_id, p.currency limit 1)
      union all
      select coalesce(
        (select p.currency || p.batch_id from payouts as p where ${isReady}
          and p.batch_id = substr(k.name, 4) and p.currency > substr(k.name, 1, 3) order by p.currency limit 1),
        (select p.currency || p.batch_id from payouts as p where ${isReady}
          and p.batch_id > substr(k.name, 4) order by p.batch_id, p.currency limit 1))
      from k where k.name is not null
    ), head as (
      select k.name,
        (select p.id from payouts as p where ${own} order by p.id limit 1) as first_id,
        (select p.id from payouts as p where ${own} and ${claimable} order by p.id limit 1) as next_id
      from k where k.name is not null
    )
    select h.name, h.first_id, h.next_id, n.amount
    from head as h left join payouts as n on n.id = h.next_id order by h.first_id`.execute(db);
  return rows.map((row) => ({
    batch: row.name.slice(3),
    currency: row.name.slice(0, 3),
    firstId: row.first_id,
    nextId: row.next_id,
    amount: row.amount,
  }));
}
