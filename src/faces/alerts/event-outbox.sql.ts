import { later, remainingMs } from '../../core/domain/wait.ts';
import { newestCursor } from '../../core/ledger/event-feed.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { findOutbox, outboxName } from '../../findings/event-standing.sql.ts';
import { isFree } from './outbox.sql.ts';

/** What this process may post: the events after a cursor. `tries`: of the next one. `waitMs`: how long it waits. */
export type OutboxClaim = { after: string; tries: number; waitMs: number };
type Claimer = { by: string; nowMs: number };

/** The outbox where this process has claimed it, without a write. */
export async function ownOutbox(db: Db | Trx, { by, nowMs }: Claimer): Promise<OutboxClaim | undefined> {
  const row = await findOutbox(db);
  if (row?.claimed_by !== by) return undefined;
  const untilMs = Date.parse(row.due_at);
  const waitMs = remainingMs({ untilMs, notedMs: Date.parse(row.noted_at) }, nowMs);
  return { after: row.after_cursor, tries: Number(row.tries), waitMs };
}

/** Whether no living process posts. */
export async function isUnclaimed(db: Db | Trx, by: string): Promise<boolean> {
  const row = await findOutbox(db);
  if (!row) return true;
  const free = db
    .selectFrom('event_outboxes')
    .select('name')
    .where('name', '=', outboxName)
    .where(isFree(by));
  return (await free.executeTakeFirst()) !== undefined;
}

/** OutboxClaims the outbox, so that one process posts. A new one begins with what happens from now on. */
export async function claimOutbox(trx: Trx, { by, nowMs }: Claimer): Promise<void> {
  if (!(await isUnclaimed(trx, by))) return;
  const at = new Date(nowMs).toISOString();
  const begun = { name: outboxName, after_cursor: await newestCursor(trx), due_at: at, noted_at: at };
  await trx
    .insertInto('event_outboxes')
    .values({ ...begun, claimed_by: by })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ claimed_by: by }))
    .execute();
}

/**
 * How far the posts came. `after`: the last event that was acknowledged, or that tells nothing. `failed`: how the next one
 * fared; `pauseMs` null: it is given up, and `past` is its cursor.
 */
export type PostProgress = {
  after: string;
  failed?: { problem: string; tries: number } & ({ pauseMs: number } | { pauseMs: null; past: string });
};

/** Records it, where the claim is still this process's; otherwise false. */
export async function recordPosts(
  trx: Trx,
  { by, at }: { by: string; at: string },
  { after, failed }: PostProgress,
): Promise<boolean> {
  const told = { after_cursor: after, tries: 0n, problem: null, due_at: at, noted_at: at };
  const { numUpdatedRows } = await trx
    .updateTable('event_outboxes')
    .set((eb) => {
      if (!failed) return told;
      const { problem, tries, pauseMs } = failed;
      if (pauseMs !== null) return { ...told, problem, tries: BigInt(tries), due_at: later(at, pauseMs) };
      return { ...told, problem, after_cursor: failed.past, gave_up: eb('gave_up', '+', 1n), gave_up_at: at };
    })
    .where('name', '=', outboxName)
    .where('claimed_by', '=', by)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Forgets how far a receiver was told that is no longer configured. */
export async function forgetOutbox(trx: Trx): Promise<void> {
  await trx.deleteFrom('event_outboxes').where('name', '=', outboxName).execute();
}
