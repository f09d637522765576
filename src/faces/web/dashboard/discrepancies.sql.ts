import { type DiscrepancyFilter, filtered } from '../../../books/discrepancies/discrepancies.sql.ts';
import { type Severity, severities } from '../../../core/domain/discrepancy-kinds.ts';
import type { Db } from '../../../core/storage/ledger.ts';

/** What people have acknowledged and nobody has resolved, by severity, the gravest first. */
export type Acknowledged = { severity: Severity; count: number }[];

export async function countAcknowledged(db: Db): Promise<Acknowledged> {
  const rows = await db
    .selectFrom('discrepancies')
    .select(['severity', (eb) => eb.fn.countAll<bigint>().as('n')])
    .where(filtered({ states: ['acknowledged'] }))
    .groupBy('severity')
    .execute();
  return severities.flatMap((severity) => {
    const found = rows.find((row) => row.severity === severity);
    return found ? [{ severity, count: Number(found.n) }] : [];
  });
}

/** What a filter finds, by currency: how many, and the payouts that they are about, each once, in minor units. */
export type DiscrepancySums = { currency: string; count: number; payouts: number; minor: bigint }[];

export async function sumDiscrepancies(db: Db, filter: DiscrepancyFilter): Promise<DiscrepancySums> {
  const counts = await db
    .selectFrom('discrepancies')
    .select(['currency', (eb) => eb.fn.countAll<bigint>().as('n')])
    .where(filtered(filter))
    .groupBy('currency')
    .orderBy('currency')
    .execute();
  const about = db.selectFrom('discrepancies').select('payout_id').where(filtered(filter));
  const sums = await db
    .selectFrom('payouts')
    .select([
      'currency',
      (eb) => eb.fn.countAll<bigint>().as('n'),
      (eb) => eb.fn.sum<bigint>('amount').as('amount'),
    ])
    .where('id', 'in', about)
    .groupBy('currency')
    .execute();
  return counts.map(({ currency, n }) => {
    const sum = sums.find((one) => one.currency === currency);
    return { currency, count: Number(n), payouts: Number(sum?.n ?? 0), minor: BigInt(sum?.amount ?? 0) };
  });
}
