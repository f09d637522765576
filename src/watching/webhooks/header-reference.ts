import { addInquiry } from '../../core/ledger/inquiries.ts';
import type { Trx } from '../../core/storage/ledger.ts';
import type { Webhook } from '../../core/storage/tables/tables.ts';
import { differingReference } from './webhook-inbox.sql.ts';
import { payoutOfWebhook } from './webhooks.sql.ts';

/**
 * Schedules look-ups of the webhook's payout and of the one that its X-Webhook-Reference names instead. The header is
 * outside the signature: it is a reason to ask, never a witness and never a refusal.
 */
export async function askWhereHeaderDiffers(
  trx: Trx,
  webhook: Webhook,
  payoutId: bigint | null,
  at: string,
): Promise<void> {
  const named = webhook.kind === 'payout' ? differingReference(webhook) : null;
  if (named === null) return;
  const other = await payoutOfWebhook(trx, { ...webhook, reference: named, trx: null });
  const reason = 'webhook_header' as const;
  for (const id of new Set([payoutId, other ?? null]))
    if (id !== null) await addInquiry(trx, { payoutId: id, reason, dueAt: at, rung: 0n });
}
