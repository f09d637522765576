import { sql } from 'kysely';
import type { Db, Trx } from '../../core/storage/ledger.ts';

/** In `tallies`: the newest refused webhook when an authentic one last came. An id, since clocks may step (P33). */
const heardKey = 'refused_before_authentic';

/** Notes that an authentic webhook came: those refused before it no longer say that signatures are wrong. */
export async function noteAuthentic(trx: Trx): Promise<void> {
  await sql`insert into tallies (name, n) select ${heardKey}, coalesce(max(id), 0) from rejections where true
    on conflict (name) do update set n = excluded.n where tallies.n < excluded.n`.execute(trx);
}

/**
 * The references of our payouts that refused webhooks named since the newest authentic one, one for each webhook, oldest
 * first. `isFirst`: no authentic webhook ever came. Only the newest thousand refused ones are known.
 */
export async function refusedReferences(db: Db | Trx): Promise<{ references: string[]; isFirst: boolean }> {
  const heard = await db.selectFrom('tallies').select('n').where('name', '=', heardKey).executeTakeFirst();
  const good = await db.selectFrom('webhooks').select('id').limit(1).executeTakeFirst();
  const { rows } = await sql<{ reference: string }>`select p.reference from rejections r
      join payouts p on p.reference_key = r.detail
    where r.kind in ('signature_wrong', 'merchant_signature_wrong', 'signature_missing') and r.id > ${heard?.n ?? 0n}
    order by r.id`.execute(db);
  return { references: rows.map(({ reference }) => reference), isFirst: good === undefined };
}
