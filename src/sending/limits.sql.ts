import { sql } from 'kysely';
import { automaticSource } from '../core/domain/history-event.ts';
import { formatMinor } from '../core/domain/money.ts';
import type { PayoutState } from '../core/domain/payout.ts';
import { later } from '../core/domain/wait.ts';
import { addHoldReason, type HoldReason } from '../core/ledger/hold-reasons.ts';
import { adoptedBetween } from '../core/ledger/limit-uses.ts';
import type { RecordEvent } from '../core/ledger/projection.ts';
import { record } from '../core/ledger/record.ts';
import { eventList } from '../core/ledger/stored-sets.ts';
import { countRows } from '../core/storage/counting.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { prepared } from '../core/storage/prepared.ts';
import { type Withheld, withholder } from '../watching/evidence/withheld.ts';
import type { Brakes } from './brakes.ts';
import type { Under } from './claim-request.ts';
import {
  dayInForce,
  daysNow,
  farAheadMs,
  type LimitDay,
  leftOf,
  limitsOf,
  whyTooLarge,
} from './daily-limit.ts';

/** The day's limits, what the intents of the day may have sent, and when the next day begins (P21). */
export type DailyUse = {
  day: string;
  limits: Map<string, bigint>;
  used: Map<string, bigint>;
  /** What is left of each limit, in minor units. */
  left: Map<string, bigint>;
  /** ISO UTC. */
  endsAt: string;
  /** The clock was far ahead before. Today must be begun now, so that what was spent then counts for no other day. */
  moved: boolean;
};

const dayMs = 86_400_000;

type Ask = Pick<Under, 'at' | 'serviceNow'> & { brakes: Pick<Brakes, 'dailyLimit' | 'timezone'> };

/**
 * Returns the day in force and how much of it is used, over all processes of the ledger. It counts all that was spent since
 * the ledger first reached a day that is not over, in the order of the commits. So the dates that a wrong clock gave do not
 * matter, and a change of `submission.timezone` opens no second budget. A day far ahead begins no such count.
 */
export async function dailyUse(db: Db | Trx, ask: Ask): Promise<DailyUse> {
  const { brakes } = ask;
  const latest = await latestDay(db);
  const { first, last } = daysNow(ask, brakes.timezone);
  const { kind, day } = dayInForce(latest ?? null, last);
  const from = first.beginsAt;
  const { endsAt } = day;
  const used = new Map<string, bigint>();
  const days = db.selectFrom('limit_days');
  const over = days.select((eb) => eb.fn.max<bigint>('id').as('id')).where('ends_at', '<=', from);
  const reached = days
    .select((eb) => eb.fn.min<bigint>('id').as('id'))
    .where('ends_at', '>', from)
    .where('begins_at', '<=', later(from, farAheadMs));
  const counted = db
    .selectFrom('limit_uses')
    .select(['currency', sql<bigint>`sum(used)`.as('used')])
    .where((eb) =>
      eb.or([eb('day_id', '>=', reached), eb('day_id', '>', eb.fn.coalesce(over, sql<bigint>`0`))]),
    )
    .groupBy('currency');
  // As for days: a clock further ahead than the next day was wrong, and must not keep everything back until then.
  const lost = await adoptedBetween(db, { from, to: later(endsAt, dayMs) });
  for (const row of [...(await counted.execute()), ...lost])
    used.set(row.currency, (used.get(row.currency) ?? 0n) + row.used);
  const limits = limitsOf(brakes.dailyLimit);
  return { day: day.day, limits, used, left: leftOf(limits, used), endsAt, moved: kind === 'moved' };
}

type KeptDay = LimitDay & { id: bigint };

const lastDay = prepared<KeptDay>((db) =>
  db
    .selectFrom('limit_days')
    .select(['id', 'day', 'begins_at as beginsAt', 'ends_at as endsAt'])
    .orderBy('id', 'desc')
    .limit(sql.lit(1)),
);

/** The latest day by the ledger's own order: a clock may run back, ids do not. */
async function latestDay(db: Db | Trx): Promise<KeptDay | undefined> {
  return (await lastDay(db, []))[0];
}

/**
 * Returns the day that new intents count for, and begins it where needed, in the transaction that commits them. What was
 * spent under a wrong clock stays under its date: should that clock come back, it has no second budget.
 */
export async function openDay(trx: Trx, ask: Ask): Promise<bigint> {
  const latest = await latestDay(trx);
  const { kind, day } = dayInForce(latest ?? null, daysNow(ask, ask.brakes.timezone).last);
  if (latest && kind === 'same') return latest.id;
  const row = { day: day.day, begins_at: day.beginsAt, ends_at: day.endsAt };
  const { id } = await trx
    .insertInto('limit_days')
    .values({ opened_at: ask.at, ...row })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

type Candidate = { id: bigint; reference: string; currency: string; amount: bigint };

/** Why some of these payouts can never be sent, by id: they are above a whole day's limit. */
export function tooLarge(
  payouts: readonly Candidate[],
  limits: ReadonlyMap<string, bigint>,
): Map<bigint, Withheld> {
  return new Map(
    payouts.flatMap((payout): [bigint, Withheld][] => {
      const why = whyTooLarge(payout, limits);
      const advice = { kind: 'raise_limit' as const, reference: payout.reference };
      return why === null ? [] : [[payout.id, { by: 'limit', why, advice }]];
    }),
  );
}

/** Holds the payouts that can never be sent, each with its reason; returns the others. */
export async function holdTooLarge<P extends Candidate>(
  trx: Trx,
  at: string,
  payouts: readonly P[],
  limits: ReadonlyMap<string, bigint>,
): Promise<P[]> {
  const reasons = tooLarge(payouts, limits);
  const events = [...reasons].map(
    ([payoutId, { why }]): RecordEvent => ({
      payoutId,
      source: withholder,
      event: { kind: 'hold', why, by: 'limit' },
    }),
  );
  await record(trx, at, events);
  return payouts.filter(({ id }) => !reasons.has(id));
}

/**
 * Holds the batches of payouts that are above today's `submission.payout_limit` and that no person has let go: the limit may
 * be newer than their intake. Returns the payouts of the other batches.
 */
export async function holdAboveLimit<P extends Candidate & { batch_id: string }>(
  trx: Trx,
  payouts: readonly P[],
  written: Record<string, string> = {},
): Promise<readonly P[]> {
  const limits = [...limitsOf(written)];
  const above = payouts.filter(({ currency, amount }) =>
    limits.some(([name, most]) => name === currency && amount > most),
  );
  const held = new Set<string>();
  for (const batch of new Set(above.map(({ batch_id }) => batch_id)))
    for (const reason of await aboveLimit(trx, batch, { written, states: ['ready'] })) {
      held.add(batch);
      await addHoldReason(trx, batch, reason);
    }
  return held.size === 0 ? payouts : payouts.filter(({ batch_id }) => !held.has(batch_id));
}

/** The reason to hold a batch for payouts above today's `submission.payout_limit` that no person has let go. */
export async function aboveLimit(
  db: Db | Trx,
  batch: string,
  { written, states = ['ready', 'held'] }: { written: Record<string, string>; states?: PayoutState[] },
): Promise<HoldReason[]> {
  const limits = [...limitsOf(written)];
  if (limits.length === 0) return [];
  const own = db
    .selectFrom('payouts as p')
    .where('p.batch_id', '=', batch)
    .where('p.state', 'in', states)
    .where((eb) =>
      eb.or(limits.map(([name, most]) => eb('p.currency', '=', name).and('p.amount', '>', most))),
    )
    .where(sql<boolean>`not ${wasLetGo}`);
  const rows = await own
    .select(['p.row_number', 'p.currency', 'p.amount'])
    .orderBy('p.row_number')
    .limit(5)
    .execute();
  if (rows.length === 0) return [];
  const first = rows.map(({ row_number, currency, amount }) => {
    return { row: Number(row_number), currency, amount: formatMinor(amount, currency) };
  });
  return [{ kind: 'payout_limit', count: await countRows(own), first }];
}

/** True for a payout `p` that a person released, or ordered again. */
const wasLetGo = sql<boolean>`exists (select 1 from history h
  where h.payout_id = p.id and h.event in ${eventList('release', 'retry')} and h.source <> ${automaticSource})`;
