import { z } from 'zod';
import type { Db, Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import { newestId } from './history.ts';
import { dropMeta, keepMeta, metaOf, setMeta } from './meta.ts';

const reason = z.strictObject({
  why: z.string(),
  advice: z.strictObject({ kind: z.enum(['adopt', 'list_whole', 'list_payer']) }).nullable(),
});

/** The reason why this ledger sends nothing, whatever `release --mode` says (P25, P26). */
export type Barrier = z.infer<typeof reason> & { at: string };

/** Keys of `meta` whose value, `AT REASON`, stops all sending. */
export const barrierKeys = {
  /** The ledger went back in time; `restore --adopt` lifts it. */
  behind: 'behind',
  /** The ledger was moved to another place permanently. */
  sealed: 'sealed',
  /** The ledger was adopted; a complete listing begun afterwards lifts it. */
  listing: 'listing_due',
};

export const allBarriers: readonly string[] = [barrierKeys.sealed, barrierKeys.behind, barrierKeys.listing];

const barrierRows = prepared<{ key: string; value: string }>((db, slot) =>
  db
    .selectFrom('meta')
    .selectAll()
    .where('key', 'in', [slot<string>(0), slot<string>(1), slot<string>(2)]),
);

export async function findBarrier(db: Db | Trx): Promise<Barrier | undefined> {
  const rows = await barrierRows(db, [...allBarriers]);
  for (const key of allBarriers) {
    const row = rows.find((one) => one.key === key);
    if (row) return readBarrier(row.value);
  }
  return undefined;
}

/** Reads a reason from its JSON text, or from the words of a seal, which name their own way out. */
function readBarrier(value: string): Barrier {
  const [, at = '', text = ''] = /^(\S+) (.*)$/s.exec(value) ?? [];
  return { at, ...(text.startsWith('{') ? reason.parse(JSON.parse(text)) : { why: text, advice: null }) };
}

/** Sets a barrier; an earlier one keeps its reason. */
export async function raiseBarrier(trx: Trx, key: string, { at, ...rest }: Barrier): Promise<void> {
  await keepMeta(trx, key, `${at} ${JSON.stringify(rest)}`);
}

/** In `meta`: the time of the newest history entry that this copy had when its fall was noticed; empty for none. */
const copiedKey = 'behind_since';

/** Stops sending, and keeps how far this ledger went back in time before new entries hide it (P25). */
export async function noteFall(trx: Trx, barrier: Barrier): Promise<void> {
  await raiseBarrier(trx, barrierKeys.behind, barrier);
  const newest = await trx
    .selectFrom('history')
    .select('at')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  await keepMeta(trx, copiedKey, newest?.at ?? '');
}

/** Returns the instant since which another copy may have sent: the newest entry of the fall, else the ledger's birth. */
export async function fellBackTo(trx: Trx): Promise<string> {
  return (await metaOf(trx, copiedKey)) || ((await metaOf(trx, 'birth')) ?? '');
}

export async function forgetFall(trx: Trx): Promise<void> {
  await dropMeta(trx, [barrierKeys.behind, copiedKey]);
}

/** In `meta`: when the ledger was last adopted, and the newest payout that it had then. */
const adoptedKey = 'adopted';

/** Records the adoption, which outlives the listing barrier (P25). */
export async function noteAdoption(trx: Trx, at: string): Promise<void> {
  await setMeta(trx, adoptedKey, `${at} ${await newestId(trx, 'payouts')}`);
}

/**
 * Returns when the ledger was last adopted; undefined when it never was. A lost copy may have finished
 * payouts with ids up to `through` and paid them again, whatever their state was here (P25).
 */
export async function lastAdoption(db: Db | Trx): Promise<{ at: string; through: bigint } | undefined> {
  const [, at, through] = /^(\S+) (\d+)$/.exec((await metaOf(db, adoptedKey)) ?? '') ?? [];
  return at === undefined || through === undefined ? undefined : { at, through: BigInt(through) };
}

/** Whether an adopted ledger still waits for its complete listing (P25). */
export async function awaitsListing(db: Db | Trx): Promise<boolean> {
  return (await metaOf(db, barrierKeys.listing)) !== undefined;
}

/** In `meta`, while an adopted ledger waits: the origin whose complete list, read since, shows none of its payouts. */
const notOursKey = 'listing_not_ours';
/** In `meta`: when, by whom and with what note a person last ended the wait. */
const waivedKey = 'listing_waived';

/** A complete list. `notOurs`: it shows none of the payouts that it should; this is where it was read. */
type ReadList = { startedAt: string; now: string; notOurs?: { originId: bigint; address: string } };

/**
 * Lifts the wait of an adopted ledger when a complete listing of ours began after the adoption (P25). A
 * listing that is not ours only allows {@link waiveListing}. An adoption runs alone, so a listing that ends
 * after it also began after it. An `at` later than `now` therefore came from a clock that was ahead.
 */
export async function hearListing(trx: Trx, { startedAt, now, notOurs }: ReadList): Promise<void> {
  const key = barrierKeys.listing;
  const barrier = await metaOf(trx, key);
  if (barrier === undefined) return;
  const { at } = readBarrier(barrier);
  if (at >= startedAt && at <= now) return;
  await endWait(trx);
  if (!notOurs) return;
  const { originId, address } = notOurs;
  await setMeta(trx, notOursKey, originId.toString());
  const why = `the ledger went back in time and was adopted, and the complete list at ${address} shows none of its payouts`;
  await raiseBarrier(trx, key, { at, why, advice: { kind: 'list_payer' } });
}

/**
 * Ends the wait of an adopted ledger by a person's decision, because no list will ever show its payouts again
 * (P32). Returns false, and changes nothing, unless the complete list of the present account was read since
 * the adoption and shows none of them. This releases no payout: each one that may have been sent stays
 * unknown (P31). `foreign`: the origins of other accounts.
 */
export async function waiveListing(
  trx: Trx,
  { at, by, note, foreign }: { at: string; by: string; note: string; foreign: readonly bigint[] },
): Promise<boolean> {
  const read = await metaOf(trx, notOursKey);
  if (read === undefined || foreign.includes(BigInt(read))) return false;
  await endWait(trx);
  await setMeta(trx, waivedKey, `${at} ${by}: ${note}`);
  return true;
}

/** Ends the wait for a listing, or clears it before it begins again. */
export async function endWait(trx: Trx): Promise<void> {
  await dropMeta(trx, [barrierKeys.listing, notOursKey]);
}

/** Whether a fall was noticed and the ledger is not adopted yet (P25). */
export async function wentBack(trx: Trx): Promise<boolean> {
  return (await metaOf(trx, barrierKeys.behind)) !== undefined;
}
