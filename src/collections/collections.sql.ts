import { z } from 'zod';
import {
  type CollectionDifference,
  type CollectionFacts,
  type CollectionState,
  collectionDelayMs,
  hearWord,
  judgeCollection,
  watchedForMs,
  withDispute,
} from '../domain/collection.ts';
import type { CollectionWord } from '../domain/collection-word.ts';
import { foldReference } from '../domain/ids.ts';
import type { Mode, WitnessStatus } from '../domain/payout.ts';
import { ledgerMode } from '../ledger/ledger-mode.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { Collection } from '../storage/tables/collection-tables.ts';

const disputes = z.array(
  z.object({
    field: z.enum(['amount', 'currency', 'status', 'domain', 'trx']),
    expected: z.string(),
    actual: z.string(),
    between: z.string(),
  }),
);

/** What a collection's row says, as the judgement takes it. */
export function factsOf(row: Collection, mode: Mode): CollectionFacts {
  const { expected_amount: amount, expected_currency: currency } = row;
  return {
    mode,
    promised: amount === null || currency === null ? null : { amount, currency },
    heard: row.heard_at !== null,
    told: row.told_status && {
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

/** The collection of this reference, whatever its case; undefined when nobody promised, told or verified one. */
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

/** The collection that a webhook speaks of: by reference, else by trx; undefined when it is the first word about it. */
export async function collectionOfWebhook(
  trx: Trx,
  { reference, trx: told }: { reference: string | null; trx: string | null },
): Promise<Collection | undefined> {
  const own = reference === null ? undefined : await findCollection(trx, reference);
  if (own || told === null) return own;
  return trx
    .selectFrom('collections')
    .selectAll()
    .where('trx', '=', told)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

/** Notes a collection that nobody promised, for a webhook or a person to speak of; what it is, is asked at once. */
export async function noteCollection(
  trx: Trx,
  { reference, at, heard }: { reference: string; at: string; heard: boolean },
): Promise<Collection> {
  return trx
    .insertInto('collections')
    .values({
      reference,
      reference_key: foldReference(reference),
      state: 'heard',
      heard_at: heard ? at : null,
      ask_at: at,
      updated_at: at,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Takes in what a webhook says; without a word it is only a reason to ask. Returns in what it contradicts others. */
export async function hearCollection(
  trx: Trx,
  row: Collection,
  { word, at }: { word: CollectionWord | null; at: string },
): Promise<CollectionDifference[]> {
  const facts = factsOf(row, await ledgerMode(trx));
  const { told, dispute } = word ? hearWord(facts.told, word) : { told: facts.told, dispute: [] };
  const standing = withDispute(facts.dispute, dispute);
  const now: CollectionFacts = { ...facts, heard: true, told, dispute: standing };
  await trx
    .updateTable('collections')
    .set((eb) => ({
      state: judgeCollection(now).state,
      heard_at: row.heard_at ?? at,
      told_status: told?.status ?? null,
      told_trx: told?.trx ?? null,
      told_amount: told?.amount ?? null,
      told_currency: told?.currency ?? null,
      told_domain: told?.domain ?? null,
      told_fee: told?.fee ?? null,
      told_paid_at: told?.paidAt ?? null,
      dispute: JSON.stringify(standing),
      trx: row.trx ?? told?.trx ?? null,
      // Only the verify endpoint can say that it arrived: it is asked at once, from the ladder's first rung.
      ask_at: at,
      rung: 0n,
      raised: eb('raised', '+', 1n),
      updated_at: at,
    }))
    .where('id', '=', row.id)
    .execute();
  return dispute;
}

/** What came of asking the verify endpoint; `word` only where it showed the collection. */
export type Verified = {
  askedAt: string;
  answeredAt: string;
  outcome: string;
  raw: string | null;
  word: CollectionWord | null;
  /** In what several words of one reply differ, such as two payments under one reference. */
  dispute: readonly CollectionDifference[];
  /** False for a time-out or the like: nothing is known that was not before. */
  answered: boolean;
  /** `verified_at` of the row as it was before the question; null where it was never shown, or not known at all. */
  verifiedBefore: string | null;
};

/**
 * Writes down an answer of the verify endpoint and when to ask next. `raised`: as it was before the question. An answer
 * that a later question has overtaken is kept in the log only: it may be older than what the later one was told.
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
  // Times alone would not do: a clock that was put back must not make every answer from then on an old one.
  const meanwhile = row.verified_at !== verifiedBefore;
  const overtaken = meanwhile && row.verified_at !== null && row.verified_at > askedAt;
  const shown = overtaken ? null : word;
  const facts = factsOf(row, await ledgerMode(trx));
  const standing = withDispute(facts.dispute, dispute);
  const { state } = judgeCollection({ ...facts, verified: shown ?? facts.verified, dispute: standing });
  const older = row.answered_at !== null && row.answered_at > askedAt;
  await trx
    .updateTable('collections')
    .set({
      state,
      ...(shown && {
        verified_at: askedAt,
        verified_status: shown.status,
        verified_trx: shown.trx,
        verified_amount: shown.amount,
        verified_currency: shown.currency,
        verified_domain: shown.domain,
        verified_fee: shown.fee,
        verified_paid_at: shown.paidAt,
        trx: row.trx ?? shown.trx,
      }),
      ...(answered && !overtaken && (shown || !older) && { answered_at: askedAt, answer: outcome }),
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

/** When to ask again after this answer; null: never, unless something raises it. */
function askAgain(
  row: Collection,
  state: CollectionState,
  asked: {
    raised: bigint;
    answeredAt: string;
    meanwhile: boolean;
    overtaken: boolean;
    word: CollectionWord | null;
  },
): string | null {
  // Raised while the answer was on its way, by a webhook perhaps: the answer may be older than what raised it.
  if (row.raised > asked.raised) return asked.answeredAt;
  // Two questions were open at once and were told two final words: which is the newer one only a third can tell.
  const differs = asked.word !== null && asked.word.status !== row.verified_status;
  if (asked.meanwhile && differs && isFinal(asked.word?.status) && isFinal(row.verified_status))
    return asked.answeredAt;
  return asked.overtaken ? row.ask_at : nextAsk(row, state, asked.answeredAt);
}

function isFinal(status: WitnessStatus | null | undefined): boolean {
  return status !== null && status !== undefined && status !== 'pending';
}

/** When to ask again; null once it arrived, when nobody promised what failed, or when it was watched long enough. */
function nextAsk(row: Collection, state: CollectionState, at: string): string | null {
  if (state === 'received' || (state === 'failed' && row.expected_at === null)) return null;
  const since = [row.expected_at, row.heard_at].reduce<string>((a, b) => (b !== null && b > a ? b : a), '');
  const watched = since === '' ? 0 : Date.parse(at) - Date.parse(since);
  if (watched > watchedForMs) return null;
  const heardFor = row.heard_at === null ? null : Date.parse(at) - Date.parse(row.heard_at);
  const delay = collectionDelayMs(Number(row.rung), state === 'heard' ? heardFor : null);
  return new Date(Date.parse(at) + delay).toISOString();
}
