import { findWord } from '../domain/collection-word.ts';
import { foldReference } from '../domain/ids.ts';
import type { Trx } from '../storage/ledger.ts';
import type { Webhook } from '../storage/tables/tables.ts';
import { collectionOfWebhook, noteCollection, recordWebhook } from './collections.sql.ts';

type Applied = { payoutId: null; collectionId: bigint | null; effect: string };

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
  if (!known && reference === null)
    return { payoutId: null, collectionId: null, effect: 'not understood; kept' };
  const row = known ?? (await noteCollection(trx, { reference: reference ?? '', at, byWebhook: true }));
  const applied = (effect: string): Applied => ({ payoutId: null, collectionId: row.id, effect });
  if (webhook.stale === 1n) {
    await recordWebhook(trx, row, { word: null, at });
    return applied('stale: a reason to ask, not a witness');
  }
  const ours = { referenceKey: foldReference(reference ?? row.reference), trx: webhook.trx };
  const finding = findWord(json, ours);
  const word = finding.kind === 'word' ? finding.word : null;
  const dispute = await recordWebhook(trx, row, { word, at });
  if (!word)
    return applied(
      finding.kind === 'none' ? 'no status in it' : 'contradicts itself: a reason to ask, not a witness',
    );
  if (dispute.length === 0) return applied(`says ${word.status}`);
  const differences = dispute.map((one) => `${one.field} is ${one.actual}, was ${one.expected}`).join('; ');
  return applied(`differs from an earlier one: ${differences}`);
}
