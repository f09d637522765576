import { sql } from 'kysely';
import { ActionNeeded } from '../core/domain/advice.ts';
import type { PayoutState } from '../core/domain/payout.ts';
import { forgettable } from '../core/domain/transition.ts';
import {
  barrierKeys,
  endWait,
  fellBackTo,
  forgetFall,
  noteAdoption,
  noteFall,
  raiseBarrier,
} from '../core/ledger/barriers.ts';
import { finishSome, loadingBatches } from '../core/ledger/batches.ts';
import { newestHistory } from '../core/ledger/history.ts';
import { spendAdopted } from '../core/ledger/limit-uses.ts';
import { keepMeta, metaOf } from '../core/ledger/meta.ts';
import { record } from '../core/ledger/record.ts';
import { isPostgres } from '../core/storage/dialect.ts';
import type { Ledger, Trx } from '../core/storage/ledger.ts';
import { dropSome } from '../intake/drop-batch.sql.ts';
import { abandonClaims } from '../sending/claims.sql.ts';
import { removeMark } from './mark.ts';
import { adoptionsKey, markNow } from './marking.ts';
import { backupKeys } from './seal.ts';
import { timelineFall, timelineKey } from './timeline.ts';

const chunk = 1000;
/** In `meta`, while an adoption is in progress. */
export const adoptingKey = 'adopting';
const why = 'the ledger went back in time: this may have been sent since';

export type Adopted = { unknown: number };

/**
 * Makes a ledger that went back in time safe to use (P25). Every payout that a newer copy may have sent becomes
 * `unknown`. Nothing is sent before a complete listing that begins after this. The caller is alone on the ledger. After
 * an interruption a second call continues: only the last step lifts the barrier.
 */
export async function adoptLedger(
  ledger: Ledger,
  now: () => string,
  onProgress: (unknown: number) => void = () => undefined,
): Promise<Adopted> {
  const since = await ledger.write(async (trx) => {
    await noteFall(trx, {
      at: now(),
      why: 'a person said that this ledger went back in time',
      advice: { kind: 'adopt' },
    });
    return beginAdoption(trx);
  });
  await decideLoading(ledger, now);
  await abandonAll(ledger, now);
  let unknown = 0;
  // An unknown payout stays unknown and counts one more send: the newer copy may have held a person's retry of it.
  for (const state of ['unknown', ...forgettable] as const) {
    for (let done = chunk; done === chunk; ) {
      done = await ledger.write((trx) => forgetSome(trx, { state, since, at: now() }));
      if (state !== 'unknown') unknown += done;
      if (done > 0) onProgress(unknown);
    }
  }
  // Remove the old mark first: after the barrier is lifted, a crash must not raise it again.
  removeMark(ledger.path);
  await ledger.write((trx) => openForListing(trx, now()));
  await ledger.write((trx) => markNow(trx, ledger.path, ledger.id));
  return { unknown };
}

/** Finishes batches in phase `loading` as intake would (P23): their payouts must not become `ready` after the adoption. */
async function decideLoading(ledger: Ledger, now: () => string): Promise<void> {
  for (const batch of await loadingBatches(ledger.db)) {
    let after = 0n;
    const step = async (trx: Trx): Promise<boolean> => {
      if (batch.body_digest === '') return (await dropSome(trx, batch.id, chunk)).done;
      const finished = await finishSome(trx, batch, now(), chunk, after);
      ({ after } = finished);
      return finished.done;
    };
    while (!(await ledger.write(step)));
  }
}

/** Abandons every open attempt. The caller is alone, so their processes have died without recording an answer (P3). */
export async function abandonAll(ledger: Ledger, now: () => string): Promise<number> {
  const workers = await ledger.db
    .selectFrom('attempts')
    .select('worker_id')
    .distinct()
    .where('outcome', 'is', null)
    .execute();
  let abandoned = 0;
  for (const { worker_id } of workers)
    abandoned += await ledger.write((trx) => abandonClaims(trx, worker_id, now()));
  await ledger.write((trx) =>
    trx.updateTable('workers').set({ ended_at: now() }).where('ended_at', 'is', null).execute(),
  );
  return abandoned;
}

/** Returns the newest history entry at the start of this adoption: one that continues after a crash counts no send twice. */
async function beginAdoption(trx: Trx): Promise<bigint> {
  const begun = await metaOf(trx, adoptingKey);
  if (begun !== undefined) return BigInt(begun);
  const last = await newestHistory(trx);
  await keepMeta(trx, adoptingKey, last.toString());
  return last;
}

async function forgetSome(
  trx: Trx,
  { state, since, at }: { state: PayoutState; since: bigint; at: string },
): Promise<number> {
  let query = trx
    .selectFrom('payouts')
    .innerJoin('batches', 'batches.id', 'payouts.batch_id')
    .select(['payouts.id', 'batches.created_at'])
    .where('payouts.state', '=', state)
    .orderBy('payouts.id')
    .limit(chunk);
  if (state === 'unknown')
    query = query.where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('history')
            .select('history.id')
            .whereRef('history.payout_id', '=', 'payouts.id')
            .where('history.event', '=', 'adopted')
            .where('history.id', '>', since),
        ),
      ),
    );
  const rows = await query.execute();
  // A file that was dropped again is newer here than what the lost copy sent of it.
  const fell = await fellBackTo(trx);
  const events = rows.map(({ id, created_at }) => ({
    payoutId: id,
    source: 'restore',
    event: { kind: 'adopted' as const, since: created_at < fell ? created_at : fell, why },
  }));
  await record(trx, at, events);
  const ids = rows.map(({ id }) => id);
  await spendAdopted(trx, { at }, ids);
  return rows.length;
}

/** Voids the marks of other machines, which are older than the adoption, and records the current timeline. */
async function voidMarks(trx: Trx): Promise<void> {
  await trx
    .insertInto('meta')
    .values({ key: adoptionsKey, value: '1' })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({ value: sql`cast(cast(meta.value as bigint) + 1 as text)` }),
    )
    .execute();
  await timelineFall(trx);
}

/** Replaces the barrier of the fall by the wait for a listing, in one transaction. */
async function openForListing(trx: Trx, at: string): Promise<void> {
  const left = await trx
    .selectFrom('payouts')
    .select('reference')
    .where('state', 'in', [...forgettable])
    .executeTakeFirst();
  if (left) throw new ActionNeeded(`${left.reference} was not adopted`, { kind: 'adopt_again' });
  await forgetFall(trx);
  await noteAdoption(trx, at);
  // Also without payouts: a copy from before the first batch has forgotten the most.
  const why =
    'the ledger went back in time and was adopted: nothing is sent until a complete listing has been matched';
  await endWait(trx);
  await raiseBarrier(trx, barrierKeys.listing, { at, why, advice: { kind: 'list_whole' } });
  await trx
    .deleteFrom('meta')
    .where((eb) =>
      eb.or([
        eb('key', 'in', ['marked', timelineKey, backupKeys.at, backupKeys.history, adoptingKey]),
        eb('key', 'like', 'marked:%'),
        eb('key', 'like', `${backupKeys.digest}%`),
      ]),
    )
    .execute();
  if (isPostgres(trx)) await voidMarks(trx);
}
