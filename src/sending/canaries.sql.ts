import { type Selectable, sql } from 'kysely';
import { later } from '../core/domain/wait.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { prepared } from '../core/storage/prepared.ts';
import type { BrakeTables } from '../core/storage/tables/brake-tables.ts';
import { rowWaits } from './approved.sql.ts';
import { type CanaryResult, type CanaryStanding, canaryBad, judgeCanary } from './canary.ts';
import type { HaltCause } from './halt.ts';

/** A canary that the rest of its batch waits for: it has not settled yet, or it failed. */
export type Canary = {
  batch: string;
  state: 'open' | 'failed';
  fromId: bigint;
  throughId: bigint;
  startedAt: string;
  /** The newest day of payment that is part of it: what waited for a later one when it began is none of it (P38). */
  day: string;
  /** False: rows that waited for an approval of their own when it began are no part of it (P37). */
  marked: boolean;
};

const standing = prepared<Selectable<BrakeTables['canaries']>>((db) =>
  db.selectFrom('canaries').selectAll().where('state', 'in', ['open', 'failed']),
);

/** Every canary that keeps the rest of its batch back. */
export async function standingCanaries(db: Db | Trx): Promise<Canary[]> {
  const rows = await standing(db, []);
  return rows.map((row) => ({
    batch: row.batch_id,
    state: row.state === 'failed' ? 'failed' : 'open',
    fromId: row.from_id,
    throughId: row.through_id,
    startedAt: row.started_at,
    day: row.day,
    marked: row.marked === 1n,
  }));
}

/** Selects the canary's payouts by their range of ids. By batch, the planner would read the whole batch. */
export function payoutsOf(
  db: Db | Trx,
  {
    batch,
    fromId,
    throughId,
    day,
    marked,
  }: Pick<Canary, 'batch' | 'fromId' | 'throughId' | 'day' | 'marked'>,
) {
  return db
    .selectFrom('payouts')
    .where('id', '>=', fromId)
    .where('id', '<=', throughId)
    .where('pay_on', '<=', day)
    .$if(!marked, (q) => q.where('approval_needed', '=', 0n))
    .where(sql<string>`coalesce(batch_id, '')`, '=', batch);
}

/** Counts the payouts of a batch's canary by state; empty where the batch has no canary. */
export async function canaryCounts(db: Db, batch: string): Promise<CanaryStanding['counts']> {
  const row = await db.selectFrom('canaries').selectAll().where('batch_id', '=', batch).executeTakeFirst();
  if (!row) return {};
  const range = { fromId: row.from_id, throughId: row.through_id, day: row.day };
  return countsOf(db, { batch, ...range, marked: row.marked === 1n });
}

async function countsOf(
  db: Db | Trx,
  canary: Parameters<typeof payoutsOf>[1],
): Promise<CanaryStanding['counts']> {
  const rows = await payoutsOf(db, canary)
    .select(['state', (eb) => eb.fn.countAll<bigint>().as('n')])
    .groupBy('state')
    .execute();
  return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]));
}

/** Judges an open canary by the present states of its payouts. */
export async function canaryResult(
  db: Db | Trx,
  canary: Canary,
  { at, hours }: { at: string; hours: number },
): Promise<CanaryResult> {
  const own = payoutsOf(db, canary);
  const since = later(at, -hours * 3_600_000);
  const isLate = canary.startedAt <= since;
  const bad = await own
    .select(['reference', 'state'])
    .where('state', 'in', canaryBad)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  const overdue = await own
    .select('reference')
    .where('state', 'in', ['sending', 'pending'])
    .where((eb) => {
      // The clock was set back after this was sent: the canary's own time counts, which was capped (P33).
      const ahead = eb.and([eb('submitted_at', '>', at), eb.lit(isLate)]);
      return eb.or([eb('submitted_at', '<=', since), ahead]);
    })
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  const withheld = isLate ? await withheldOf(db, canary) : undefined;
  const counts = await countsOf(db, canary);
  const standing = { bad: bad ?? null, overdue: overdue?.reference ?? null, withheld: withheld ?? null };
  return judgeCanary({ counts, ...standing }, hours);
}

/**
 * The first payout that is held though its batch is not: it must not be sent, even when a person releases the batch.
 */
async function withheldOf(db: Db | Trx, canary: Canary): Promise<string | undefined> {
  const batch = db
    .selectFrom('batches')
    .select('id')
    .where(sql<boolean>`(hold_reasons = '[]' or (held = 0
    and payouts.withheld_by is not null))`);
  const isHeld = await payoutsOf(db, canary)
    .select('reference')
    .where('state', '=', 'held')
    .where('batch_id', 'in', batch.where('id', '=', canary.batch))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return isHeld?.reference;
}

/**
 * Records what became of the open canaries. Returns the cause of a halt for each that went wrong. A void canary is
 * removed, so that the batch gets another one.
 */
export async function settleCanaries(trx: Trx, when: { at: string; hours: number }): Promise<HaltCause[]> {
  const causes: HaltCause[] = [];
  for (const canary of await standingCanaries(trx)) {
    if (canary.state === 'failed') continue;
    const verdict = await canaryResult(trx, canary, when);
    const own = trx.updateTable('canaries').where('batch_id', '=', canary.batch).where('state', '=', 'open');
    if (verdict.kind === 'passed') await own.set({ state: 'passed', ended_at: when.at }).execute();
    if (verdict.kind === 'void')
      await trx.deleteFrom('canaries').where('batch_id', '=', canary.batch).execute();
    if (verdict.kind !== 'failed') continue;
    const { failure, isOpen } = verdict;
    await own.set({ state: 'failed', ended_at: when.at }).execute();
    causes.push({ kind: isOpen ? 'canary_open' : 'canary_failed', batch: canary.batch, failure });
  }
  return causes;
}

/** Restarts, from now, the time of canaries that began under a clock that has since been set back (P33). */
export async function capCanaries(trx: Trx, at: string): Promise<void> {
  await trx
    .updateTable('canaries')
    .set({ started_at: at })
    .where('state', '=', 'open')
    .where('started_at', '>', at)
    .execute();
}

/**
 * Begins a canary for each batch that has none: the first `size` payouts of those whose day has come and that wait for no
 * approval. It passes at once where some were already sent.
 */
export async function beginCanaries(trx: Trx, batches: readonly string[], order: CanaryOrder): Promise<void> {
  for (const batch of new Set(batches)) {
    const known = await trx
      .selectFrom('canaries')
      .select('batch_id')
      .where('batch_id', '=', batch)
      .executeTakeFirst();
    if (!known) await beginCanary(trx, batch, order);
  }
}

type CanaryOrder = { size: number; at: string; day: string };

async function beginCanary(trx: Trx, batch: string, { size, at, day }: CanaryOrder): Promise<void> {
  const rows = trx.selectFrom('payouts').select('id').where('batch_id', '=', batch);
  const alive = rows.where('state', 'in', ['ready', 'held']).orderBy('row_number').orderBy('id');
  const own = await alive
    .where('pay_on', '<=', day)
    .where(sql<boolean>`not ${rowWaits}`)
    .limit(size)
    .execute();
  const [first, last] = [own[0], own.at(-1)];
  if (!first || !last) return;
  const rest = await alive.offset(own.length).limit(1).executeTakeFirst();
  const waits = await alive.where(rowWaits).limit(1).executeTakeFirst();
  // Nothing has to wait where the batch is no larger than its canary, or was under way before there was one.
  const whole = !rest || (await wasSent(trx, batch));
  await trx
    .insertInto('canaries')
    .values({
      batch_id: batch,
      from_id: first.id,
      through_id: last.id,
      day,
      marked: waits ? 0n : 1n,
      state: whole ? 'passed' : 'open',
      started_at: at,
      ended_at: whole ? at : null,
    })
    .execute();
}

async function wasSent(trx: Trx, batch: string): Promise<boolean> {
  const ends = trx.selectFrom('payouts').select('id').where('batch_id', '=', batch);
  const first = await ends.orderBy('row_number').limit(1).executeTakeFirst();
  const last = await ends.orderBy('row_number', 'desc').limit(1).executeTakeFirst();
  if (!first || !last) return false;
  // What a lost copy may have sent counts as sent (P25).
  const unseen = await ends.where('unseen_sends', '>', 0n).limit(1).executeTakeFirst();
  if (unseen) return true;
  const sent = await trx
    .selectFrom('attempts as a')
    .innerJoin('payouts as p', 'p.id', 'a.payout_id')
    .select('a.id')
    .where('a.payout_id', '>=', first.id)
    .where('a.payout_id', '<=', last.id)
    .where('p.batch_id', '=', batch)
    .where((eb) =>
      eb.or([eb('a.outcome', 'is', null), eb('a.outcome', 'not in', ['not_sent', 'turned_away'])]),
    )
    .limit(1)
    .executeTakeFirst();
  return sent !== undefined;
}

/** Releases the rest of a batch whose canary failed. False where it did not. */
export async function releaseCanary(trx: Trx, batch: string): Promise<boolean> {
  const query = trx
    .updateTable('canaries')
    .set({ state: 'released' })
    .where('state', '=', 'failed')
    .where('batch_id', '=', batch)
    .returning('batch_id');
  return (await query.execute()).length > 0;
}
