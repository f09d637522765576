import { sql } from 'kysely';
import type { Db, Trx } from '../storage/ledger.ts';

/**
 * The references of our payouts that refused webhooks named since the newest authentic one, one for each webhook, oldest
 * first. `isFirst`: no authentic webhook ever came. Only the newest thousand refused ones are known.
 */
export async function refusedReferences(db: Db | Trx): Promise<{ references: string[]; isFirst: boolean }> {
  const good = await db
    .selectFrom('webhooks')
    .select('received_at')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const { rows } = await sql<{ reference: string }>`select p.reference from rejections r
      join payouts p on p.reference_key = r.detail
    where r.kind in ('signature_wrong', 'merchant_signature_wrong', 'signature_missing') and r.at > ${good?.received_at ?? ''}
    order by r.id`.execute(db);
  return { references: rows.map(({ reference }) => reference), isFirst: good === undefined };
}
