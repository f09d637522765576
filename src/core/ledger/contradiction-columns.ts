import { type RawBuilder, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import type { Contradiction } from '../domain/contradiction.ts';
import type { RecordSource, WitnessStatus } from '../domain/payout.ts';
import type { SaidColumns } from '../storage/tables/said-columns.ts';

/** What a row of a webhook or a look-up holds of what the service said, beside the kind of it. */
export type SaidFields = Selectable<SaidColumns>;

/** The kinds of a word that contradict, as a list for `in`. */
export const contradicting: RawBuilder<string> = sql`('against_ledger', 'against_webhook', 'differs')`;

/** What contradicts nothing: its status, if it gave one. */
export function onlySaid(said: WitnessStatus | null = null): SaidFields {
  return { said, against: null, differences: null };
}

export function columnsOf(one: Contradiction): SaidFields {
  return {
    said: one.kind === 'differs' ? null : one.said,
    against: one.kind === 'against_ledger' ? one.state : null,
    differences: one.kind === 'differs' ? JSON.stringify(one.differences) : null,
  };
}

const differenceList = z.array(z.object({ field: z.string(), expected: z.string(), actual: z.string() }));

/** The differences that a row holds; none where its word differs in nothing. */
export function differencesIn(stored: string | null): z.infer<typeof differenceList> {
  return differenceList.parse(JSON.parse(stored ?? '[]'));
}

/** The contradiction in a row's columns; null where its kind is none. */
export function contradictionIn(
  source: RecordSource,
  kind: string | null,
  { said, against, differences }: SaidFields,
): Contradiction | null {
  if (kind === 'differs') return { kind, differences: differencesIn(differences) };
  if (kind === 'against_ledger' && said !== null && against !== null)
    return { kind, source, said, state: against };
  return kind === 'against_webhook' && (said === 'success' || said === 'failed') ? { kind, said } : null;
}
