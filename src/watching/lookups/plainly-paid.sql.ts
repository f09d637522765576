import { sql } from 'kysely';
import { foldReference } from '../../core/domain/ids.ts';
import type { Standpoint } from '../../core/domain/origin.ts';
import type { Due } from '../../core/ledger/inquiries.ts';
import { sentOnlyElsewhere } from '../../core/ledger/origins.ts';
import { idList, textsOf } from '../../core/storage/bulk.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';

/** A payout sent once, that its webhooks call paid, and the attempt that sent it. */
export type PlainlyPaid = { payoutId: bigint; attempt: bigint };

/**
 * Returns those of these questions that a row of the list may answer. The payout is pending, and was sent and accepted once,
 * from this account (P17, P31). Its webhooks all say that it was paid or is on its way (P18). All others need its details.
 */
export async function plainlyPaid(
  db: Db | Trx,
  dues: readonly Due[],
  standpoint?: Standpoint,
): Promise<PlainlyPaid[]> {
  const { rows } = await sql<{ payout_id: bigint; attempt: bigint }>`
    select p.id as payout_id, p.last_attempt_id as attempt from inquiries i join payouts p on p.id = i.payout_id
    where i.id in ${idList(dues.map(({ id }) => id))} and i.outcome is null and i.reason = 'webhook_says'
      and p.state = 'pending' and p.attempt_count = 1 and p.unseen_sends = 0
      and p.transfer_id is not null and p.last_attempt_id is not null
      and exists (select 1 from webhooks w where w.payout_id = p.id and w.verdict = 'says' and w.said = 'success')
      and not exists (select 1 from webhooks w where w.payout_id = p.id
        and (coalesce(w.verdict, '') <> 'says' or coalesce(w.said, '') not in ('success', 'pending')))`.execute(
    db,
  );
  const found = rows.map(({ payout_id, attempt }) => ({ payoutId: payout_id, attempt }));
  if (!standpoint) return found;
  const ids = found.map(({ payoutId }) => payoutId);
  const elsewhere = await sentOnlyElsewhere(db, ids, standpoint.account);
  return found.filter(({ payoutId }) => !elsewhere.has(payoutId));
}

/** The last attempts of our payouts with these references, by folded reference. */
export async function attemptsNamed(db: Db, references: readonly string[]): Promise<Map<string, bigint>> {
  const rows = await db
    .selectFrom('payouts')
    .select(['reference_key', 'last_attempt_id'])
    .where('reference_key', 'in', textsOf(references.map(foldReference)))
    .execute();
  return new Map(
    rows.flatMap(({ reference_key, last_attempt_id }) =>
      last_attempt_id === null ? [] : [[reference_key, last_attempt_id] as const],
    ),
  );
}
