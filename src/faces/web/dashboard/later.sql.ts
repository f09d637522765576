import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../core/storage/ledger.ts';

/** What waits for one day of payment (P38), in one currency; `minor` in minor units. */
export type DayAhead = { day: string; currency: string; count: number; minor: bigint };

/** What is ready and goes on a later day than `today`, the nearest first. The index alone answers. */
export function daysAhead(db: Db, today: string, limit: number): Promise<DayAhead[]> {
  return daysWhere(db, sql`state = 'ready'`, { today, limit });
}

/** The same for one batch, with what is held of it. */
export function batchDaysAhead(
  db: Db,
  batch: string,
  { today, limit }: { today: string; limit: number },
): Promise<DayAhead[]> {
  return daysWhere(db, sql`batch_id = ${batch} and state in ('ready', 'held')`, { today, limit });
}

async function daysWhere(
  db: Db,
  where: RawBuilder<unknown>,
  { today, limit }: { today: string; limit: number },
): Promise<DayAhead[]> {
  const { rows } = await sql<{ day: string; currency: string; n: bigint; minor: bigint }>`
    select pay_on as day, currency, count(*) as n, cast(sum(amount) as bigint) as minor from payouts
    where ${where} and pay_on <> '' and pay_on > ${today}
    group by pay_on, currency order by pay_on, currency limit ${sql.lit(BigInt(limit))}`.execute(db);
  return rows.map(({ day, currency, n, minor }) => ({ day, currency, count: Number(n), minor }));
}
