import { lacksAmount, witnessesDiffer } from '../../core/domain/collection.ts';
import { findCollectionWitness } from '../../core/domain/collection-witness.ts';
import { foldReference } from '../../core/domain/ids.ts';
import { isAskable } from '../../core/domain/others-reference.ts';
import { isNotFound } from '../../core/domain/witness.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { LookUpReply, ServiceClient, ServiceTrouble } from '../../core/service/types.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import type { Collection } from '../../core/storage/tables/collection-tables.ts';
import { dueCollections } from './collection-watch.sql.ts';
import {
  collectionById,
  concludeVerify,
  findCollection,
  noteCollection,
  type Verified,
} from './collections.sql.ts';

/** After this many questions in a row without an answer the service counts as down, and the rest waits. */
const silenceLimit = 5;

/** Look-ups at the verify endpoint (endpoint 4): only they make a collection received (P13, P14). */
export function createCollectionLookUps(deps: {
  ledger: Ledger;
  clock: Clock;
  service: Pick<ServiceClient, 'verifyTransaction'>;
  /** The limiter that all other requests share. */
  limiter: { take(signal?: AbortSignal): Promise<void> };
  rules: { concurrency: number };
}) {
  const { ledger, clock, service, limiter, rules } = deps;

  /** `evenIfNotDue`: this answer is wanted even if another process has asked meanwhile. */
  async function askOne(
    id: bigint,
    evenIfNotDue: boolean,
    signal?: AbortSignal,
  ): Promise<boolean | undefined> {
    await limiter.take(signal);
    if (signal?.aborted) return undefined;
    const row = await collectionById(ledger.db, id);
    const askedAt = clock.iso();
    if (!row) return undefined;
    if (!evenIfNotDue && (row.ask_at === null || row.ask_at > askedAt)) return undefined;
    const verified = isAskable(row.reference)
      ? judge(row, await service.verifyTransaction(row.reference), { askedAt, answeredAt: clock.iso() })
      : unaskable(row, askedAt);
    await ledger.write((trx) => concludeVerify(trx, id, row.raised, verified));
    return verified.answered;
  }

  async function askAll(
    ids: readonly bigint[],
    evenIfNotDue: boolean,
    signal?: AbortSignal,
  ): Promise<number> {
    const queue = [...ids];
    let count = 0;
    let silent = 0;
    const lane = async (): Promise<void> => {
      while (!signal?.aborted && silent < silenceLimit) {
        const id = queue.shift();
        if (id === undefined) return;
        const answered = await askOne(id, evenIfNotDue, signal);
        if (answered === undefined) continue;
        count += 1;
        silent = answered ? 0 : silent + 1;
      }
    };
    await Promise.all(Array.from({ length: Math.min(rules.concurrency, queue.length) }, lane));
    return count;
  }

  return {
    /** Asks about collections that are due by now, at most `budget` of them. Returns how many were asked about. */
    async askDue({ budget, signal }: { budget: number; signal?: AbortSignal }): Promise<number> {
      const ids = await dueCollections(ledger.db, { at: clock.iso(), limit: budget });
      return askAll(ids, false, signal);
    },
    /** Asks about these now, whether due or not. Returns how many were asked about. */
    askNow: (ids: readonly bigint[], signal?: AbortSignal) => askAll(ids, true, signal),
    /** Asks about an unknown collection. Records it if the service shows it; undefined otherwise. */
    async discover(reference: string): Promise<bigint | undefined> {
      if (!isAskable(reference)) return undefined;
      await limiter.take();
      const askedAt = clock.iso();
      const reply = await service.verifyTransaction(reference);
      const at = clock.iso();
      const nothing = { trx: null, expected_amount: null, verified_at: null };
      const about = { reference_key: foldReference(reference), ...nothing };
      const verified = judge(about, reply, { askedAt, answeredAt: at });
      if (!verified.word) return undefined;
      return ledger.write(async (trx) => {
        // Another process may have recorded it meanwhile.
        const row =
          (await findCollection(trx, reference)) ??
          (await noteCollection(trx, { reference, at, byWebhook: false }));
        await concludeVerify(trx, row.id, row.raised, verified);
        return row.id;
      });
    },
  };
}

/** Takes the place of an answer, so that a collection that cannot be looked up is scheduled and reported like the rest. */
function unaskable({ verified_at: verifiedBefore }: Collection, at: string): Verified {
  const outcome = 'cannot be asked about: no request can name this reference';
  const nothing = { raw: null, word: null, dispute: [], answered: true };
  return { askedAt: at, answeredAt: at, outcome, verifiedBefore, ...nothing };
}

/** Judges what a reply says of the collection; silence, refusals and foreign bodies say nothing. */
function judge(
  row: Pick<Collection, 'reference_key' | 'trx' | 'expected_amount' | 'verified_at'>,
  reply: LookUpReply | ServiceTrouble,
  times: { askedAt: string; answeredAt: string },
): Verified {
  const when = { ...times, verifiedBefore: row.verified_at };
  if (reply.kind === 'trouble') {
    const outcome = `error: ${reply.reason}`;
    return { ...when, outcome, raw: reply.message, word: null, dispute: [], answered: false };
  }
  const common = { ...when, raw: reply.raw, dispute: [], answered: true };
  const finding = findCollectionWitness(reply.json, { referenceKey: row.reference_key, trx: row.trx });
  if (finding.kind === 'witness') {
    const { witness } = finding;
    const lacking = row.expected_amount !== null && lacksAmount(witness);
    const why = lacking ? ', but shows no amount: received only if a webhook shows it' : '';
    return { ...common, outcome: `says ${witness.status}${why}`, word: witness };
  }
  if (finding.kind === 'contradictory') {
    const words = finding.witnesses.map(
      ({ status, amount, trx }) => `${status} ${amount ?? '-'} (${trx ?? 'no trx'})`,
    );
    const [one, ...others] = finding.witnesses;
    const dispute = others.flatMap((other) =>
      one ? witnessesDiffer(one, other, 'one reply of verify') : [],
    );
    return { ...common, dispute, outcome: `contradicts itself: ${words.slice(0, 5).join(', ')}`, word: null };
  }
  const outcome = isNotFound(reply.json, reply.httpStatus) ? 'not_found' : 'no_witness';
  return { ...common, outcome, word: null };
}
