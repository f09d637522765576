import { sql } from 'kysely';
import type { Expected } from '../domain/witness.ts';
import type { Db, Trx } from './open.ts';
import type { Payout } from './tables.ts';

/** A payout with what a witness of it must show. */
export type Known = { payout: Payout; expected: Expected };

/** Loads payouts with the facts a witness is compared with. */
export async function loadKnown(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, Known>> {
  const wanted = sql<bigint>`(select value from json_each(${`[${ids.join(',')}]`}))`;
  const rows = await db.selectFrom('payouts').selectAll().where('id', 'in', wanted).execute();
  return new Map(rows.map((payout) => [payout.id, { payout, expected: expectedOf(payout) }]));
}

/** What the service should show of this payout. */
function expectedOf(payout: Payout): Expected {
  return {
    reference: payout.reference,
    referenceKey: payout.reference_key,
    transferId: payout.transfer_id,
    trx: payout.trx,
    amount: payout.amount,
    currency: payout.currency,
    accountNumber: payout.account_number,
    bankCode: payout.bank_code,
    mode: payout.mode,
    firstIntentAt: payout.submitted_at,
  };
}

/** Whether an attempt of the payout is under way or ended at or after `instant` (P4). */
export async function attemptedSince(trx: Trx, payoutId: bigint, instant: string): Promise<boolean> {
  const row = await trx
    .selectFrom('attempts')
    .select('id')
    .where('payout_id', '=', payoutId)
    .where((eb) => eb.or([eb('ended_at', 'is', null), eb('ended_at', '>', instant)]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
