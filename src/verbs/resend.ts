import { z } from 'zod';
import type { App } from '../app/app.ts';
import { isAskable } from '../core/domain/others-reference.ts';
import { findCollection } from '../watching/collections/collections.sql.ts';
import { payoutToAsk, type ResendSubject } from '../watching/lookups/resend-requests.sql.ts';
import type { AskedFor } from '../watching/lookups/resends.ts';
import { type Refused, refusedFor } from './obstacles.ts';
import { verb } from './verb.ts';

/** `meanwhile`: called while the rate limit is waited for. */
type Parts = Pick<App, 'ledger' | 'config' | 'resends' | 'collectionLookUps'> & {
  signal: AbortSignal;
  meanwhile(): Promise<void>;
};

/** `answer`: what the service said; null where the rate limit or the service delays the request. */
type Asked = { reference: string; answer: Omit<AskedFor, 'reference'> | null };
export type ResendOutcome = { kind: 'asked'; asked: Asked[] };

const minuteMs = 60_000;

/** Asks the service to send webhooks again, within the rate limit. */
export const resendVerb = verb({
  name: 'resend',
  can: 'decide',
  touchesMoney: false,
  input: z.strictObject({ references: z.array(z.string()).min(1), collections: z.boolean() }),
  async run(parts: Parts, { references, collections }): Promise<ResendOutcome | Refused> {
    const { config, resends, signal, meanwhile } = parts;
    const names = [...new Set(references)];
    const subjects: ResendSubject[] = [];
    for (const name of names) {
      const found = await (collections ? collectionOf : payoutOf)(parts, name);
      if (found.kind === 'refused') return found;
      subjects.push(found);
    }
    const minutes = 1 + Math.ceil(names.length / config.service.resendsPerMinute);
    const made = await resends.askFor(subjects, { signal, forMs: minutes * minuteMs, meanwhile });
    const answers = new Map(made.map((one) => [one.reference.toLowerCase(), one]));
    const asked = names.map((reference) => {
      const answer = answers.get(reference.toLowerCase());
      return { reference, answer: answer ? { outcome: answer.outcome, message: answer.message } : null };
    });
    return { kind: 'asked', asked };
  },
});

async function payoutOf({ ledger }: Parts, reference: string): Promise<ResendSubject | Refused> {
  const subject = await payoutToAsk(ledger.db, reference);
  return subject ?? refusedFor({ kind: 'no_payout', references: [reference] });
}

/** Finds the collection, also one that the ledger does not know: it may exist when its webhook was lost. */
async function collectionOf(
  { ledger, config, collectionLookUps }: Parts,
  reference: string,
): Promise<ResendSubject | Refused> {
  const known = await findCollection(ledger.db, reference);
  if (!isAskable(known?.reference ?? reference)) return refusedFor({ kind: 'unaskable', reference });
  const id = known?.id ?? (await collectionLookUps.discover(reference));
  if (id === undefined) return refusedFor({ kind: 'no_collection', reference, mode: config.mode });
  return { kind: 'transaction', id };
}
