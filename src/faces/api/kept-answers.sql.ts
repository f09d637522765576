import { createHash } from 'node:crypto';
import type { Ledger } from '../../core/storage/ledger.ts';

/** A decision under an Idempotency-Key, by one person. */
type Keyed = { person: string; key: string };

/**
 * `known`: it was answered before. `busy`: it is being worked on. `lost`: it was worked on, and nobody knows to what end.
 * `other`: the key belongs to another request.
 */
export type Kept =
  | { kind: 'new' | 'busy' | 'lost' | 'other' }
  | { kind: 'known'; status: number; body: string };

const dayMs = 86_400_000;

/** A request as a digest: the same answer is given again only to the same request. */
export function requestDigest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/**
 * Claims the key for this process, or says what it was answered. A claim whose process ended without an answer stays
 * lost for its day: the decision may stand, and a colleague may have decided otherwise since.
 */
export async function claimAnswer(
  ledger: Ledger,
  { person, key, request, workerId, at }: Keyed & { request: string; workerId: string; at: string },
): Promise<Kept> {
  return ledger.write(async (trx) => {
    const dayAgo = new Date(Date.parse(at) - dayMs).toISOString();
    await trx.deleteFrom('kept_answers').where('made_at', '<', dayAgo).execute();
    const before = await trx
      .selectFrom('kept_answers as k')
      .leftJoin('workers as w', 'w.id', 'k.worker_id')
      .select(['k.request', 'k.status', 'k.body', 'w.ended_at', 'w.id as worker'])
      .where('k.person', '=', person)
      .where('k.key', '=', key)
      .executeTakeFirst();
    if (before && before.request !== request) return { kind: 'other' };
    if (before && before.status !== null)
      return { kind: 'known', status: Number(before.status), body: before.body ?? '' };
    if (before) return { kind: before.worker !== null && before.ended_at === null ? 'busy' : 'lost' };
    await trx
      .insertInto('kept_answers')
      .values({ person, key, request, made_at: at, worker_id: workerId, status: null, body: null })
      .execute();
    return { kind: 'new' };
  });
}

/** Keeps the answer for a day. */
export async function keepAnswer(
  ledger: Ledger,
  { person, key, status, body }: Keyed & { status: number; body: string },
): Promise<void> {
  await ledger.write((trx) =>
    trx
      .updateTable('kept_answers')
      .set({ status: BigInt(status), body })
      .where('person', '=', person)
      .where('key', '=', key)
      .execute(),
  );
}

/** Leaves a claim whose work failed, so that nobody knows how much of it was done. */
export async function loseClaim(ledger: Ledger, { person, key }: Keyed): Promise<void> {
  await ledger.write((trx) =>
    trx
      .updateTable('kept_answers')
      .set({ worker_id: '' })
      .where('person', '=', person)
      .where('key', '=', key)
      .where('status', 'is', null)
      .execute(),
  );
}

/** Forgets a claim whose work did nothing, so that the request may be made again. */
export async function dropClaim(ledger: Ledger, { person, key }: Keyed): Promise<void> {
  await ledger.write((trx) =>
    trx
      .deleteFrom('kept_answers')
      .where('person', '=', person)
      .where('key', '=', key)
      .where('status', 'is', null)
      .execute(),
  );
}
