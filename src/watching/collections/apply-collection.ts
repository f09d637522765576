import { findCollectionWitness } from '../../core/domain/collection-witness.ts';
import { foldReference } from '../../core/domain/ids.ts';
import { columnsOf, onlySaid, type SaidFields } from '../../core/ledger/contradiction-columns.ts';
import type { Trx } from '../../core/storage/ledger.ts';
import type { WebhookOutcome } from '../../core/storage/tables/said-columns.ts';
import type { Webhook } from '../../core/storage/tables/tables.ts';
import { collectionOfWebhook, noteCollection, recordWebhook } from './collections.sql.ts';

type Applied = { collectionId: bigint | null; verdict: WebhookOutcome; word?: SaidFields };

/**
 * Applies one webhook about a collection (event `transaction` or `collection`). It records the webhook and schedules
 * the verify endpoint; a webhook alone never makes a collection received (P14).
 */
export async function applyCollection(
  trx: Trx,
  webhook: Webhook,
  { json, at }: { json: unknown; at: string },
): Promise<Applied> {
  const { reference } = webhook;
  const known = await collectionOfWebhook(trx, { reference, trx: webhook.trx });
  if (!known && reference === null) return { collectionId: null, verdict: 'not_understood' };
  const row = known ?? (await noteCollection(trx, { reference: reference ?? '', at, byWebhook: true }));
  const collectionId = row.id;
  if (webhook.stale === 1n) {
    await recordWebhook(trx, row, { word: null, at });
    return { collectionId, verdict: 'stale' };
  }
  const ours = { referenceKey: foldReference(reference ?? row.reference), trx: webhook.trx };
  const found = findCollectionWitness(json, ours);
  const word = found.kind === 'witness' ? found.witness : null;
  const dispute = await recordWebhook(trx, row, { word, at });
  if (!word) return { collectionId, verdict: found.kind === 'none' ? 'no_status' : 'contradictory' };
  if (dispute.length === 0) return { collectionId, verdict: 'says', word: onlySaid(word.status) };
  return { collectionId, verdict: 'differs', word: columnsOf({ kind: 'differs', differences: dispute }) };
}
