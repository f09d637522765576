import { z } from 'zod';
import type { Life } from '../../books/discrepancies/discrepancy-events.sql.ts';
import { judgeResends } from '../../core/domain/resend-budget.ts';
import { differencesIn } from '../../core/ledger/contradiction-columns.ts';
import type { DiscrepancyJson, ResendJson, WebhookJson } from '../../core/shapes/story-shapes.ts';
import type { ResendRequest } from '../../core/storage/tables/collection-tables.ts';
import type { Discrepancy, Webhook } from '../../core/storage/tables/tables.ts';
import { actionFor } from '../../words/discrepancy-words.ts';

type JsonValue = z.core.util.JSONType;

/**
 * A stored text as the JSON that it holds; a text that is no JSON, such as an error page, stays text. `account`: an
 * account number, which becomes text where the service wrote it as a number, so that it can be masked.
 */
export function parsed(stored: string | null, account?: string): JsonValue {
  if (stored === null) return null;
  const asText = (_key: string, value: unknown): unknown =>
    typeof value === 'number' && value === Number(account) ? account : value;
  try {
    return z.json().parse(JSON.parse(stored, asText));
  } catch {
    return stored;
  }
}

const record = z.record(z.string(), z.json());

/** A stored JSON object, such as the detail of a history entry or the headers of a webhook. */
export function parsedObject(stored: string): Record<string, JsonValue> {
  return record.parse(JSON.parse(stored));
}

/** The requests for a webhook of one reference, and how far they are. */
export function resendOf(
  requests: readonly ResendRequest[],
  heardAt: string | null,
  now: string,
): ResendJson {
  const state = judgeResends(requests, heardAt, now);
  const { dueAt, ...rest } = { dueAt: undefined, ...state };
  return {
    ...rest,
    ...(dueAt !== undefined && { due_at: dueAt }),
    requests: requests.map(({ reason, due_at, asked_at, answered_at, outcome, raw }) => {
      return { reason, due_at, asked_at, answered_at, outcome, reply: parsed(raw) };
    }),
  };
}

/** A discrepancy with what a person does about it. */
export function discrepancyOf(one: Discrepancy & { life?: Life[] }): DiscrepancyJson {
  const { id, kind, severity, state, reference, trx, transfer_id, currency } = one;
  const { expected, actual, difference, evidence, note, first_seen_at, last_seen_at } = one;
  return {
    ...{ id, kind, severity, state, reference, batch: one.batch_id, trx, transfer_id, currency },
    ...{ expected, actual, difference, evidence, action: actionFor(one), note, first_seen_at, last_seen_at },
    last_run: one.last_run_id,
    resolved_at: one.resolved_at,
    resolved_by: one.resolved_by,
    reopened: Number(one.reopened),
    ...(one.life && { life: one.life }),
  };
}

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
