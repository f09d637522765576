import { differencesIn } from '../../ledger/contradiction-columns.ts';
import type { Webhook } from '../../storage/tables/tables.ts';
import { parsed, parsedObject } from './plain-parts.ts';
import type { WebhookJson } from './story-json.ts';

/** A webhook with its body as the fields that it holds. `words`: its effect as a sentence. `account`: as in {@link parsed}. */
export function webhookOf(one: Webhook, words: string | null, account?: string): WebhookJson {
  const { received_at, last_received_at, reference, trx, applied_at, verdict, said, against } = one;
  return {
    ...{ id: Number(one.id), received_at, last_received_at, deliveries: Number(one.deliveries) },
    ...{ reference, trx, stale: one.stale === 1n, applied_at, verdict, said, against },
    differences: differencesIn(one.differences),
    words,
    headers: parsedObject(one.headers),
    body: parsed(Buffer.from(one.body).toString('utf8'), account),
  };
}
