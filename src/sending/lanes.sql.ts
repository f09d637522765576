import { type RawBuilder, sql } from 'kysely';
import { farAhead } from '../core/ledger/projection.ts';
import { idList } from '../core/storage/bulk.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { prepared } from '../core/storage/prepared.ts';
import type { Brakes } from './brakes.ts';
import { canaryResult, standingCanaries } from './canaries.sql.ts';
import { type ClaimScope, throughDay, type Under } from './claim-request.ts';
import { type DailyUse, dailyUse } from './limits.sql.ts';
import { anyDated } from './quiet.sql.ts';

/** The ready payouts of one batch in one currency for one day, marked ones apart, and what they wait for. */
export type Lane = {
  batch: string;
  currency: string;
  /** The day before which none of them is sent (P38); empty: at once. */
  payOn: string;
  /** True for the rows that needed an approval of their own (P37). */
  marked: boolean;
  /** The newest payout that may go before the canary has settled; null: all of them. */
  throughId: bigint | null;
  waits: null | 'date' | 'canary' | 'failed canary' | 'daily limit';
};

/** What `lanesOf` found; `use` is null where no limit is set. */
export type Lanes = { lanes: Lane[]; use: DailyUse | null };

type Ask = Under & ClaimScope;

/** True where the configuration alone requires lanes, whatever stands in the ledger. */
export function usesLanes(brakes: Brakes): boolean {
  return brakes.canary > 0 || Object.keys(brakes.dailyLimit).length > 0;
}

/**
 * Returns what is ready, by batch, currency and day, in the order of the first payout of each. Each lane says what keeps
 * it back: its day (P38), a canary that has not settled, or a day's limit that the next payout exceeds (P21). Null where
 * no brake is in use, so that unused brakes cost nothing. The cost does not grow with what waits: only the first of each lane is read.
 */
export async function lanesOf(db: Db | Trx, ask: Ask): Promise<Lanes | null> {
  const { brakes, at, batches } = ask;
  const limited = Object.keys(brakes.dailyLimit).length > 0;
  const canaries = await standingCanaries(db);
  if (!usesLanes(brakes) && canaries.length === 0 && !(await isAnyDated(db))) return null;
  const closed = new Map<string, { throughId: bigint; day: string; marked: boolean; failed: boolean }>();
  for (const canary of canaries) {
    const verdict =
      canary.state === 'failed' ? null : await canaryResult(db, canary, { at, hours: brakes.canaryHours });
    if (verdict?.kind === 'passed') continue;
    const failed = verdict === null || verdict.kind === 'failed';
    const { throughId, day: through, marked } = canary;
    closed.set(canary.batch, { throughId, day: through, marked, failed });
  }
  const use = limited ? await dailyUse(db, ask) : null;
  const heads = await headsOf(db, ask);
  const wanted = batches ? heads.filter(({ batch }) => batches.includes(batch)) : heads;
  const day = throughDay(ask);
  const lanes = wanted.map(({ firstId, nextId, amount, ...head }): Lane => {
    const { batch, currency, payOn } = head;
    const canary = closed.get(batch);
    // None of a later day is of the canary, nor what waited for an approval.
    const isOutside = canary && (payOn > canary.day || (head.marked && !canary.marked));
    const throughId = canary ? (isOutside ? 0n : canary.throughId) : null;
    if (payOn > day) return { ...head, throughId, waits: 'date' };
    if (canary && throughId !== null && firstId > throughId)
      return { ...head, throughId, waits: canary.failed ? 'failed canary' : 'canary' };
    const beyond = throughId !== null && nextId !== null && nextId > throughId;
    const waits = !beyond && isOver({ currency, amount }, use) ? 'daily limit' : null;
    return { ...head, throughId, waits };
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
  payOn: string;
  marked: boolean;
  /** `firstId`: the first that is ready. `nextId`, `amount`: the first that may be claimed now; null where none may. */
  firstId: bigint;
  nextId: bigint | null;
  amount: bigint | null;
};

const dated = prepared<{ found: bigint }>((db) => anyDated(db));

async function isAnyDated(db: Db | Trx): Promise<boolean> {
  return (await dated(db, [])).length > 0;
}

/**
 * The heads of what is ready, by batch, currency, day of payment and mark. Each costs two index steps, however many payouts are
 * ready.
 */
export async function headsOf(db: Db | Trx, { at, payouts }: Pick<Ask, 'at' | 'payouts'>): Promise<Head[]> {
  const isReady = sql`p.state = 'ready'${payouts ? sql` and p.id in ${idList(payouts)}` : sql``}`;
  const first = (where: RawBuilder<unknown>, columns: RawBuilder<unknown> = sql`p.id`): RawBuilder<unknown> =>
    sql`(select ${columns} from payouts as p where ${isReady}${where}
      order by p.batch_id, p.currency, p.pay_on, p.approval_needed, p.id limit 1)`;
  const claimable = sql`(p.turned_away_until is null
    or not (p.turned_away_until > ${at} and p.turned_away_until <= ${farAhead(at)}))`;
  const { rows } = await sql<{
    batch_id: string;
    currency: string;
    pay_on: string;
    marked: bigint;
    first_id: bigint;
    next_id: bigint | null;
    amount: bigint | null;
  }>`with recursive head (id, batch_id, currency, pay_on, marked) as (
      select * from ${first(sql``, sql`p.id, p.batch_id, p.currency, p.pay_on, p.approval_needed`)} as f
      union all
      select n.id, n.batch_id, n.currency, n.pay_on, n.approval_needed from head as h inner join payouts as n on n.id = coalesce(
        ${first(sql` and p.batch_id = h.batch_id and p.currency = h.currency and p.pay_on = h.pay_on and p.approval_needed > h.marked`)},
        ${first(sql` and p.batch_id = h.batch_id and p.currency = h.currency and p.pay_on > h.pay_on`)},
        ${first(sql` and p.batch_id = h.batch_id and p.currency > h.currency`)},
        ${first(sql` and p.batch_id > h.batch_id`)})
    ), next as (
      select h.*, (select p.id from payouts as p where ${isReady} and p.batch_id = h.batch_id
        and p.currency = h.currency and p.pay_on = h.pay_on and p.approval_needed = h.marked and ${claimable} order by p.id limit 1) as next_id
      from head as h
    )
    select h.batch_id, h.currency, h.pay_on, h.marked, h.id as first_id, h.next_id, n.amount
    from next as h left join payouts as n on n.id = h.next_id order by h.id`.execute(db);
  return rows.map((row) => ({
    batch: row.batch_id,
    currency: row.currency,
    payOn: row.pay_on,
    marked: row.marked === 1n,
    firstId: row.first_id,
    nextId: row.next_id,
    amount: row.amount,
  }));
}
