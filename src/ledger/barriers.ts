import type { Db, Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';

/** Why nothing may be sent from this ledger, whatever `release --mode` says (P25, P26). */
export type Barrier = { cause: string; at: string };

/** Keys of `meta` whose value, `AT CAUSE`, stops all sending. */
export const barrierKeys = {
  /** It went back in time; `restore --adopt` lifts it. */
  behind: 'behind',
  /** It was moved to another place for ever. */
  sealed: 'sealed',
  /** It was adopted; a complete listing begun afterwards lifts it. */
  listing: 'listing_due',
};

/** Every barrier, the gravest first. */
export const allBarriers: readonly string[] = [barrierKeys.sealed, barrierKeys.behind, barrierKeys.listing];

const metaOf = prepared<{ key: string; value: string }>((db, slot) =>
  db
    .selectFrom('meta')
    .selectAll()
    .where('key', 'in', [slot<string>(0), slot<string>(1), slot<string>(2)]),
);

/** The gravest barrier in force. */
export async function findBarrier(db: Db | Trx): Promise<Barrier | undefined> {
  const rows = await metaOf(db, [...allBarriers]);
  for (const key of allBarriers) {
    const row = rows.find((one) => one.key === key);
    if (row) return readBarrier(row.value);
  }
  return undefined;
}

function readBarrier(value: string): Barrier {
  const [, at = '', cause = ''] = /^(\S+) (.*)$/s.exec(value) ?? [];
  return { at, cause };
}

/** Sets a barrier; an earlier cause stands. */
export async function raiseBarrier(trx: Trx, key: string, { at, cause }: Barrier): Promise<void> {
  await trx
    .insertInto('meta')
    .values({ key, value: `${at} ${cause}` })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
}

/** In `meta`: when the copy that stands here had its newest entry, empty where it had none. */
const copiedKey = 'behind_since';

/** This ledger went back in time (P25): nothing is sent, and how far it went back is kept, whatever is written from now on. */
export async function noteFall(trx: Trx, barrier: Barrier): Promise<void> {
  await raiseBarrier(trx, barrierKeys.behind, barrier);
  const newest = await trx
    .selectFrom('history')
    .select('at')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  await trx
    .insertInto('meta')
    .values({ key: copiedKey, value: newest?.at ?? '' })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
}

/** Since when another copy may have sent: the newest entry that this one had when it was noticed, else the ledger's birth. */
export async function fellBackTo(trx: Trx): Promise<string> {
  const rows = await metaOf(trx, [copiedKey, 'birth', copiedKey]);
  const value = (key: string): string => rows.find((row) => row.key === key)?.value ?? '';
  return value(copiedKey) || value('birth');
}

/** The ledger is adopted: nothing of the fall is left to know. */
export async function forgetFall(trx: Trx): Promise<void> {
  await lowerBarrier(trx, barrierKeys.behind);
  await lowerBarrier(trx, copiedKey);
}

/** In `meta`: when the ledger was last adopted, and the newest payout that it had then. */
const adoptedKey = 'adopted';

/** P25: keeps what the listing barrier no longer tells once it has fallen. */
export async function noteAdoption(trx: Trx, at: string): Promise<void> {
  const newest = await trx
    .selectFrom('payouts')
    .select((eb) => eb.fn.max<bigint | null>('id').as('id'))
    .executeTakeFirst();
  await setMeta(trx, adoptedKey, `${at} ${newest?.id ?? 0n}`);
}

/**
 * When the ledger was last adopted; a lost copy of it may have seen payouts up to `through`, by id, to their end and paid
 * them again, whatever their state was here (P25). Undefined when it never was.
 */
export async function lastAdoption(db: Db | Trx): Promise<{ at: string; through: bigint } | undefined> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', adoptedKey).executeTakeFirst();
  const [, at, through] = /^(\S+) (\d+)$/.exec(row?.value ?? '') ?? [];
  return at === undefined || through === undefined ? undefined : { at, through: BigInt(through) };
}

export async function lowerBarrier(trx: Trx, key: string): Promise<void> {
  await trx.deleteFrom('meta').where('key', '=', key).execute();
}

/** True while the mode of an adopted ledger waits for its complete listing (P25). */
export async function awaitsListing(db: Db | Trx): Promise<boolean> {
  const key = barrierKeys.listing;
  const row = await db.selectFrom('meta').select('key').where('key', '=', key).executeTakeFirst();
  return row !== undefined;
}

/** In `meta`, while an adopted ledger waits: the origin whose complete list, read since, shows none of its payouts. */
const notOursKey = 'listing_not_ours';
/** In `meta`: when, by whom and with what note the wait was last ended without a listing of ours. */
const waivedKey = 'listing_waived';

/** A complete list that was read. `notOurs`: it shows none of the payouts that it should, and where it was read. */
type ReadList = { startedAt: string; now: string; notOurs?: { originId: bigint; address: string } };

/**
 * Lifts the wait of an adopted ledger when a complete listing of ours began after the adoption (P25); one that is not ours
 * only opens the way for {@link waiveListing}. Who adopts is alone, so what ends after it began after it, whatever a
 * clock said that ran ahead then and is right again at `now`.
 */
export async function hearListing(trx: Trx, { startedAt, now, notOurs }: ReadList): Promise<void> {
  const key = barrierKeys.listing;
  const barrier = (await metaOf(trx, [key, key, key]))[0];
  if (!barrier) return;
  const { at } = readBarrier(barrier.value);
  if (at >= startedAt && at <= now) return;
  await endWait(trx);
  if (!notOurs) return;
  const { originId, address } = notOurs;
  await setMeta(trx, notOursKey, originId.toString());
  const cause = `the ledger went back in time and was adopted, and the complete list at ${address} shows none of its payouts. counterfoil reconcile --full lifts this with the address and key of the account that paid them; if that account is closed for good, counterfoil release --mode --note "how you know" does`;
  await raiseBarrier(trx, key, { at, cause });
}

/**
 * P32: a person ends the wait of an adopted ledger whose payouts went to an account that no list will ever show again.
 * False, and nothing done, unless the complete list of the account that is named now was read since the adoption and
 * shows none of them. No payout of this ledger may be sent again by it: what may have been sent stays unknown (P31).
 * `foreign`: the origins of other accounts.
 */
export async function waiveListing(
  trx: Trx,
  { at, by, note, foreign }: { at: string; by: string; note: string; foreign: readonly bigint[] },
): Promise<boolean> {
  const [read] = await metaOf(trx, [notOursKey, notOursKey, notOursKey]);
  if (!read || foreign.includes(BigInt(read.value))) return false;
  await endWait(trx);
  await setMeta(trx, waivedKey, `${at} ${by}: ${note}`);
  return true;
}

/** The wait for a listing is over, or begins anew. */
export async function endWait(trx: Trx): Promise<void> {
  await lowerBarrier(trx, barrierKeys.listing);
  await lowerBarrier(trx, notOursKey);
}

async function setMeta(trx: Trx, key: string, value: string): Promise<void> {
  await trx
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}

/** True from the moment a fall is noticed until the ledger is adopted (P25). */
export async function wentBack(trx: Trx): Promise<boolean> {
  const row = await trx
    .selectFrom('meta')
    .select('key')
    .where('key', '=', barrierKeys.behind)
    .executeTakeFirst();
  return row !== undefined;
}
