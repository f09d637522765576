import { formatMinor } from '../../core/domain/money.ts';
import { differencesIn } from '../../core/ledger/contradiction-columns.ts';
import type { CollectionStoryJson } from '../../core/shapes/story-shapes.ts';
import type { Webhook } from '../../core/storage/tables/tables.ts';
import type { CollectionStory } from '../../watching/collections/collection-lines.sql.ts';
import { discrepancyOf, parsed, resendOf, webhookOf } from './plain-parts.ts';

/** The story of a collection for `--json`. `effect` words what a webhook did. */
export function collectionStoryOf(
  { collection, webhooks, lookups, resends, discrepancies }: CollectionStory,
  now: string,
  effect: (webhook: Webhook) => string | null,
): CollectionStoryJson {
  const { id: _id, reference_key: _key, rung: _rung, raised: _raised, answered_at: _at, ...row } = collection;
  const { file_id: file, row_number: number, answer: _, dispute, expected_amount: amount, ...rest } = row;
  return {
    collection: {
      ...rest,
      file,
      row: number === null ? null : Number(number),
      expected_amount:
        amount === null || row.expected_currency === null ? null : formatMinor(amount, row.expected_currency),
      dispute: differencesIn(dispute),
    },
    webhooks: webhooks.map((one) => webhookOf(one, effect(one))),
    lookups: lookups.map(({ asked_at, answered_at, outcome, raw }) => {
      return { asked_at, answered_at, outcome, reply: parsed(raw) };
    }),
    resend: resendOf(resends, collection.heard_at, now),
    discrepancies: discrepancies.map((one) => discrepancyOf(one)),
  };
}
