import { z } from 'zod';
import type { Db, Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import { forkEvents, noteLastTold } from './event-places.ts';
import { tell } from './events.ts';
import { newestId } from './history.ts';
import { dropMeta, keepMeta, metaOf, setMeta } from './meta.ts';

const reason = z.strictObject({
  why: z.string(),
  advice: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.enum(['adopt', 'list_whole']) }),
      z.strictObject({ kind: z.literal('follow_move'), mark: z.string() }),
      // A ledger of an older program keeps no digest.
      z.strictObject({ kind: z.enum(['list_payer', 'list_unproven']), evidence: z.string().default('none') }),
    ])
    .nullable(),
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

/** Returns the barrier of a ledger that went back in time, whatever else stops it (P25). */
export async function findFallBarrier(db: Db | Trx): Promise<Barrier | undefined> {
  const value = await metaOf(db, barrierKeys.behind);
  return value === undefined ? undefined : readBarrier(value);
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
  await noteLastTold(trx);
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
  await forkEvents(trx, at);
  await tell(trx, at, [{ type: 'halt.raised', data: { kind: 'barrier' } }]);
}

/**
 * Returns when the ledger was last adopted; undefined when it never was. A lost copy may have finished
 * payouts with ids up to `through` and paid them again, whatever their state was here (P25).
 */
export async function lastAdoption(db: Db | Trx): Promise<{ at: string; through: bigint } | undefined> {
  const [, at, through] = /^(\S+) (\d+)$/.exec((await metaOf(db, adoptedKey)) ?? '') ?? [];
  return at === undefined || through === undefined ? undefined : { at, through: BigInt(through) };
}

/** Returns the digest of what the list of an adopted ledger does not prove, or null where it waits for no person. */
export async function unprovenEvidence(db: Db | Trx): Promise<string | null> {
  const value = await metaOf(db, barrierKeys.listing);
  const advice = value === undefined ? null : readBarrier(value).advice;
  return advice && 'evidence' in advice ? advice.evidence : null;
}

/** Whether an adopted ledger still waits for its complete listing (P25). */
export async function awaitsListing(db: Db | Trx): Promise<boolean> {
  return (await metaOf(db, barrierKeys.listing)) !== undefined;
}

/**
 * In `meta`, `ORIGIN RUN`: the newest list that was read since an adoption and did not prove enough. It stays after a
 * person has ended the wait, who has nothing else to rest on.
 */
const readKey = 'listing_read';

/**
 * A list that does not end the wait of an adopted ledger. `originId`: where it was read. `why`: what it does not prove.
 * `evidence`: a digest of that, the same for each run that leaves the same open.
 */
export type UnprovenList = {
  run: string;
  originId: bigint;
  why: string;
  advice: { kind: 'list_payer' | 'list_unproven'; evidence: string };
};

/** A list that was read to its end. Without `unproven` it is complete, and of the account that paid. */
type ReadList = { startedAt: string; now: string; unproven?: UnprovenList };

/**
 * Lifts the wait of an adopted ledger when a complete listing of ours began after the adoption (P25). Any other
 * list only says what it does not prove, and allows {@link waiveListing}. An adoption runs alone, so a listing
 * that ends after it also began after it. An `at` later than `now` therefore came from a clock that was ahead.
 */
export async function noteListAfterAdoption(trx: Trx, { startedAt, now, unproven }: ReadList): Promise<void> {
  const key = barrierKeys.listing;
  const barrier = await metaOf(trx, key);
  if (barrier === undefined) return;
  const { at } = readBarrier(barrier);
  if (at >= startedAt && at <= now) return;
  await endWait(trx);
  if (!unproven) return tellLifted(trx, now);
  const { run, originId, why, advice } = unproven;
  await setMeta(trx, readKey, `${originId} ${run}`);
  await raiseBarrier(trx, key, { at, why, advice });
}

async function readList(db: Db | Trx): Promise<string[]> {
  return (await metaOf(db, readKey))?.split(' ') ?? [];
}

/** A person's decision to send new batches without a complete list. `notProven`: what the list did not prove then. */
export type WaivedListing = { at: string; by: string; note: string; notProven: string };

type Waiver = {
  at: string;
  by: string;
  note: string;
  evidence: string | undefined;
  foreign: readonly bigint[];
};

/**
 * Ends the wait of an adopted ledger by a person's decision, because no list will ever end it (P32). Records the
 * decision with what was not proven, and returns it. Changes nothing, and returns why, unless a list of the present
 * account was read since the adoption, and leaves open what the person saw. This releases no payout: each one that may
 * have been sent stays unknown (P31). `evidence`: the digest of what was shown; without it, whatever stands open is
 * accepted. `foreign`: the origins of other accounts.
 */
export async function waiveListing(
  trx: Trx,
  { at, by, note, evidence, foreign }: Waiver,
): Promise<WaivedListing | 'unread' | 'unseen'> {
  const [origin] = await readList(trx);
  const barrier = await metaOf(trx, barrierKeys.listing);
  if (origin === undefined || barrier === undefined || foreign.includes(BigInt(origin))) return 'unread';
  if (evidence !== undefined && evidence !== (await unprovenEvidence(trx))) return 'unseen';
  const { why: notProven } = readBarrier(barrier);
  await dropMeta(trx, [barrierKeys.listing]);
  await tellLifted(trx, at);
  await trx
    .insertInto('waived_listings')
    .values({ at, decided_by: by, note, not_proven: notProven })
    .execute();
  return { at, by, note, notProven };
}

/** Returns every decision to send new batches without a complete list, the first one first. */
export async function waivedListings(db: Db | Trx): Promise<WaivedListing[]> {
  const rows = await db.selectFrom('waived_listings').selectAll().orderBy('id').execute();
  return rows.map(({ at, decided_by: by, note, not_proven: notProven }) => ({ at, by, note, notProven }));
}

/** Ends the wait for a listing, or clears it before it begins again. */
export async function endWait(trx: Trx): Promise<void> {
  await dropMeta(trx, [barrierKeys.listing, readKey]);
}

/** Tells programs that an adopted ledger may send again (P39). */
function tellLifted(trx: Trx, at: string): Promise<void> {
  return tell(trx, at, [{ type: 'halt.lifted', data: { kind: 'barrier' } }]);
}

/** Whether a fall was noticed and the ledger is not adopted yet (P25). */
export async function wentBack(trx: Trx): Promise<boolean> {
  return (await metaOf(trx, barrierKeys.behind)) !== undefined;
}
