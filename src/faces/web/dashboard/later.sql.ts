import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../core/storage/ledger.ts';

/** What waits for one day of payment (P38), in one currency; `minor` in minor units. */
export type DayAhead = { day: string; currency: string; count: number; minor: bigint };

/** What goes out on later days. `held`: what goes only once somebody lets it go; null where that is too much to look through. */
export type DaysAhead = { ready: DayAhead[]; held: DayAhead[] | null };

/** So many held payouts are looked through: no index has their days. */
export const mostHeld = 10_000;

type Limits = { today: string; limit: number };

/** What goes on a later day than `today`, the nearest first. */
export async function daysAhead(db: Db, today: string, limit: number): Promise<DaysAhead> {
  // The index alone answers.
  const ready = await daysWhere(db, sql`payouts where state = 'ready'`, { today, limit });
  const held = sql`(select pay_on, currency, amount from payouts where state = 'held' limit ${sql.lit(BigInt(mostHeld + 1))}) h`;
  const { rows } = await sql<{ n: bigint }>`select count(*) as n from ${held}`.execute(db);
  const isTooMuch = Number(rows[0]?.n ?? 0) > mostHeld;
  return { ready, held: isTooMuch ? null : await daysWhere(db, sql`${held} where true`, { today, limit }) };
}

/** The same for one batch, with what is held of it. */
export function batchDaysAhead(db: Db, batch: string, limits: Limits): Promise<DayAhead[]> {
  return daysWhere(db, sql`payouts where batch_id = ${batch} and state in ('ready', 'held')`, limits);
}

async function daysWhere(db: Db, from: RawBuilder<unknown>, { today, limit }: Limits): Promise<DayAhead[]> {
  const { rows } = await sql<{ day: string; currency: string; n: bigint; minor: bigint }>`
    select pay_on as day, currency, count(*) as n, cast(sum(amount) as bigint) as minor from ${from}
    and pay_on <> '' and pay_on > ${today}
    group by pay_on, currency order by pay_on, currency limit ${sql.lit(BigInt(limit))}`.execute(db);
  return rows.map(({ day, currency, n, minor }) => ({ day, currency, count: Number(n), minor }));
}
