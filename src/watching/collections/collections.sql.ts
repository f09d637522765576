import { z } from 'zod';
import {
  type CollectionDifference,
  type CollectionFacts,
  type CollectionState,
  collectionDelayMs,
  judgeCollection,
  mergeWebhook,
  watchedForMs,
  withDispute,
} from '../../core/domain/collection.ts';
import type { CollectionWitness } from '../../core/domain/collection-witness.ts';
import { foldReference } from '../../core/domain/ids.ts';
import type { Mode, WitnessStatus } from '../../core/domain/payout.ts';
import { ledgerMode } from '../../core/ledger/meta.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { Collection } from '../../core/storage/tables/collection-tables.ts';

const disputes = z.array(
  z.object({
    field: z.enum(['amount', 'currency', 'status', 'domain', 'trx']),
    expected: z.string(),
    actual: z.string(),
    between: z.string(),
  }),
);

/** Converts a collection's row to the facts that {@link judgeCollection} takes. */
export function collectionFacts(row: Collection, mode: Mode): CollectionFacts {
  const { expected_amount: amount, expected_currency: currency } = row;
  return {
    mode,
    promised: amount === null || currency === null ? null : { amount, currency },
    hasWebhook: row.heard_at !== null,
    webhook: row.told_status && {
      status: row.told_status,
      trx: row.told_trx,
      amount: row.told_amount,
      currency: row.told_currency,
      domain: row.told_domain,
      fee: row.told_fee,
      paidAt: row.told_paid_at,
    },
    dispute: disputes.parse(JSON.parse(row.dispute)),
    verified: row.verified_status && {
      status: row.verified_status,
      trx: row.verified_trx,
      amount: row.verified_amount,
      currency: row.verified_currency,
      domain: row.verified_domain,
      fee: row.verified_fee,
      paidAt: row.verified_paid_at,
    },
    receivedAt: row.received_at,
  };
}

/** The collection of this reference in any case; undefined if no file, webhook or look-up named it. */
export function findCollection(db: Db | Trx, reference: string): Promise<Collection | undefined> {
  return db
    .selectFrom('collections')
    .selectAll()
    .where('reference_key', '=', foldReference(reference))
    .executeTakeFirst();
}

export function collectionById(db: Db | Trx, id: bigint): Promise<Collection | undefined> {
  return db.selectFrom('collections').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The collection that a webhook concerns: by reference, else by trx; undefined where it is the first sign of it. */
export async function collectionOfWebhook(
  trx: Trx,
  { reference, trx: named }: { reference: string | null; trx: string | null },
): Promise<Collection | undefined> {
  const own = reference === null ? undefined : await findCollection(trx, reference);
  if (own || named === null) return own;
  return trx
    .selectFrom('collections')
    .selectAll()
    .where('trx', '=', named)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

/** Records an unexpected collection that a webhook or a person named. It is looked up at once. */
export async function noteCollection(
  trx: Trx,
  { reference, at, byWebhook }: { reference: string; at: string; byWebhook: boolean },
): Promise<Collection> {
  return trx
    .insertInto('collections')
    .values({
      reference,
      reference_key: foldReference(reference),
      state: 'heard',
      heard_at: byWebhook ? at : null,
      ask_at: at,
      updated_at: at,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Records what a webhook says; without a word it is only a reason to ask. Returns where it contradicts other webhooks. */
export async function recordWebhook(
  trx: Trx,
  row: Collection,
  { word, at }: { word: CollectionWitness | null; at: string },
): Promise<CollectionDifference[]> {
  const facts = collectionFacts(row, await ledgerMode(trx));
  const { webhook, dispute } = word
    ? mergeWebhook(facts.webhook, word)
    : { webhook: facts.webhook, dispute: [] };
  const standing = withDispute(facts.dispute, dispute);
  const now: CollectionFacts = { ...facts, hasWebhook: true, webhook, dispute: standing };
  await trx
    .updateTable('collections')
    .set((eb) => ({
      state: judgeCollection(now).state,
      heard_at: row.heard_at ?? at,
      told_status: webhook?.status ?? null,
      told_trx: webhook?.trx ?? null,
      told_amount: webhook?.amount ?? null,
      told_currency: webhook?.currency ?? null,
      told_domain: webhook?.domain ?? null,
      told_fee: webhook?.fee ?? null,
      told_paid_at: webhook?.paidAt ?? null,
      dispute: JSON.stringify(standing),
      trx: row.trx ?? webhook?.trx ?? null,
      // Only the verify endpoint can confirm receipt: ask it at once, from the ladder's first rung.
      ask_at: at,
      rung: 0n,
      raised: eb('raised', '+', 1n),
      updated_at: at,
    }))
    .where('id', '=', row.id)
    .execute();
  return dispute;
}

/** The result of asking the verify endpoint; `word` is null unless the endpoint showed the collection. */
export type Verified = {
  askedAt: string;
  answeredAt: string;
  outcome: string;
  raw: string | null;
  word: CollectionWitness | null;
  /** Where several words of one reply differ, such as two payments under one reference. */
  dispute: readonly CollectionDifference[];
  /** False for a time-out or the like, which brings nothing new. */
  answered: boolean;
  /** The row's `verified_at` before the question; null if the endpoint never showed it, or the collection was unknown. */
  verifiedBefore: string | null;
};

/**
 * Records an answer of the verify endpoint and when to ask next. `raised`: its value before the question. An answer
 * that a later question has overtaken goes only into the log: it may be older than the later answer.
 */
export async function concludeVerify(
  trx: Trx,
  id: bigint,
  raised: bigint,
  { askedAt, answeredAt, outcome, raw, word, dispute, answered, verifiedBefore }: Verified,
): Promise<CollectionState | undefined> {
  const row = await collectionById(trx, id);
  if (!row) return undefined;
  await trx
    .insertInto('collection_look_ups')
    .values({
      collection_id: id,
      asked_at: askedAt,
      answered_at: answeredAt,
      outcome,
      raw: raw?.slice(0, 4096) ?? null,
    })
    .execute();
  // Times alone are not enough: after a clock was set back, every new answer would look old.
  const meanwhile = row.verified_at !== verifiedBefore;
  const overtaken = meanwhile && row.verified_at !== null && row.verified_at > askedAt;
  const current = overtaken ? null : word;
  const facts = collectionFacts(row, await ledgerMode(trx));
  const standing = withDispute(facts.dispute, dispute);
  const { state } = judgeCollection({ ...facts, verified: current ?? facts.verified, dispute: standing });
  const older = row.answered_at !== null && row.answered_at > askedAt;
  await trx
    .updateTable('collections')
    .set({
      state,
      ...(current && {
        verified_at: askedAt,
        verified_status: current.status,
        verified_trx: current.trx,
        verified_amount: current.amount,
        verified_currency: current.currency,
        verified_domain: current.domain,
        verified_fee: current.fee,
        verified_paid_at: current.paidAt,
        trx: row.trx ?? current.trx,
      }),
      ...(answered && !overtaken && (current || !older) && { answered_at: askedAt, answer: outcome }),
      dispute: JSON.stringify(standing),
      received_at: state === 'received' ? (row.received_at ?? answeredAt) : row.received_at,
      ask_at: askAgain(row, state, { raised, answeredAt, meanwhile, overtaken, word }),
      rung: overtaken ? row.rung : row.rung + 1n,
      updated_at: answeredAt,
    })
    .where('id', '=', id)
    .execute();
  return state;
}

/** When to ask again after this answer; null: never, unless an event asks for it. */
function askAgain(
  row: Collection,
  state: CollectionState,
  question: {
    raised: bigint;
    answeredAt: string;
    meanwhile: boolean;
    overtaken: boolean;
    word: CollectionWitness | null;
  },
): string | null {
  // An event, perhaps a webhook, came while the answer was in flight: the answer may be older than the event.
  if (row.raised > question.raised) return question.answeredAt;
  // Two questions were open together and got two different final words. Only a third one can show which is newer.
  const differs = question.word !== null && question.word.status !== row.verified_status;
  if (question.meanwhile && differs && isFinal(question.word?.status) && isFinal(row.verified_status))
    return question.answeredAt;
  return question.overtaken ? row.ask_at : nextAsk(row, state, question.answeredAt);
}

function isFinal(status: WitnessStatus | null | undefined): boolean {
  return status !== null && status !== undefined && status !== 'pending';
}

/** When to ask again; null once it is received, once an unexpected one failed, or after the time of watching. */
function nextAsk(row: Collection, state: CollectionState, at: string): string | null {
  if (state === 'received' || (state === 'failed' && row.expected_at === null)) return null;
  const since = [row.expected_at, row.heard_at].reduce<string>((a, b) => (b !== null && b > a ? b : a), '');
  const watched = since === '' ? 0 : Date.parse(at) - Date.parse(since);
  if (watched > watchedForMs) return null;
  const heardFor = row.heard_at === null ? null : Date.parse(at) - Date.parse(row.heard_at);
  const delay = collectionDelayMs(Number(row.rung), state === 'heard' ? heardFor : null);
  return new Date(Date.parse(at) + delay).toISOString();
}
