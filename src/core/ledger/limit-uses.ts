import { sql } from 'kysely';
import { idList } from '../storage/bulk.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';

/** Counts the amounts of intents against their day, in the intents' transaction: a crash leaves both or neither. */
export async function spend(
  trx: Trx,
  dayId: bigint,
  orders: readonly { currency: string; amount: bigint }[],
): Promise<void> {
  for (const [currency, own] of Map.groupBy(orders, (order) => order.currency)) {
    const used = own.reduce((sum, { amount }) => sum + amount, 0n);
    await use(trx, [dayId, currency, used]);
  }
}

const use = prepared((db, slot) =>
  db
    .insertInto('limit_uses')
    .values({ day_id: slot<bigint>(0), currency: slot<string>(1), used: slot<bigint>(2) })
    .onConflict((conflict) =>
      conflict
        .columns(['day_id', 'currency'])
        .doUpdateSet((eb) => ({ used: eb('limit_uses.used', '+', slot<bigint>(2)) })),
    ),
);

/** Gives the amounts of attempts that were proven not taken back to the day that counted them. */
export async function giveBackUses(trx: Trx, attemptIds: readonly bigint[]): Promise<void> {
  if (attemptIds.length === 0) return;
  const wanted = idList(attemptIds);
  const rows = await trx
    .selectFrom('attempts as a')
    .innerJoin('payouts as p', 'p.id', 'a.payout_id')
    .select(['a.day_id', 'p.currency', sql<bigint>`sum(p.amount)`.as('amount')])
    .where('a.id', 'in', wanted)
    .groupBy(['a.day_id', 'p.currency'])
    .execute();
  for (const { day_id, currency, amount } of rows)
    await trx
      .updateTable('limit_uses')
      .set((eb) => ({ used: eb('used', '-', amount) }))
      .where('day_id', '=', day_id)
      .where('currency', '=', currency)
      .execute();
}

/**
 * Counts what an adoption makes unknown: the lost copy may have sent all of it on this very day (P25). It
 * runs in the transaction of the adoption's step, so a crash counts nothing twice.
 */
export async function spendAdopted(
  trx: Trx,
  { at }: { at: string },
  payoutIds: readonly bigint[],
): Promise<void> {
  if (payoutIds.length === 0) return;
  const wanted = idList(payoutIds);
  const sums = await trx
    .selectFrom('payouts')
    .select(['currency', sql<bigint>`sum(amount)`.as('used')])
    .where('id', 'in', wanted)
    .groupBy('currency')
    .execute();
  for (const { currency, used } of sums)
    await trx
      .insertInto('adopted_uses')
      .values({ adopted_at: at, currency, used })
      .onConflict((conflict) =>
        conflict
          .columns(['adopted_at', 'currency'])
          .doUpdateSet((eb) => ({ used: eb('adopted_uses.used', '+', used) })),
      )
      .execute();
}

/** Returns the sums per currency that adoptions between two instants made unknown. */
export function adoptedBetween(
  db: Db | Trx,
  { from, to }: { from: string; to: string },
): Promise<{ currency: string; used: bigint }[]> {
  return db
    .selectFrom('adopted_uses')
    .select(['currency', sql<bigint>`sum(used)`.as('used')])
    .where('adopted_at', '>=', from)
    .where('adopted_at', '<', to)
    .groupBy('currency')
    .execute();
}
