import { longestPauseMs } from '../../core/domain/pause.ts';
import { later, remainingMs } from '../../core/domain/wait.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';

/** How long requests to an endpoint still pause, in ms, and how many pauses came in a row. */
export type EndpointPause = { leftMs: number; strikes: number; why: string };

/** The pause of this name, whichever process recorded it. */
export async function pauseOf(db: Db | Trx, name: string, nowMs: number): Promise<EndpointPause> {
  const row = await db.selectFrom('pauses').selectAll().where('name', '=', name).executeTakeFirst();
  if (!row) return { leftMs: 0, strikes: 0, why: '' };
  const stamp = { untilMs: Date.parse(row.until_at), notedMs: Date.parse(row.noted_at) };
  const leftMs = Math.min(remainingMs(stamp, nowMs), longestPauseMs);
  return { leftMs, strikes: Number(row.strikes), why: row.why };
}

/** Records a pause; a shorter one does not end a longer one in force. */
export async function notePause(trx: Trx, name: string, pause: EndpointPause, nowMs: number): Promise<void> {
  const before = await pauseOf(trx, name, nowMs);
  const noted_at = new Date(nowMs).toISOString();
  const until_at = later(noted_at, Math.max(before.leftMs, pause.leftMs));
  const row = { until_at, noted_at, strikes: BigInt(pause.strikes), why: pause.why };
  await trx
    .insertInto('pauses')
    .values({ name, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute();
}

/** Resets the strikes because the endpoint answered: the next trouble counts as the first. */
export async function endStrikes(trx: Trx, name: string): Promise<void> {
  await trx.updateTable('pauses').set({ strikes: 0n }).where('name', '=', name).execute();
}

/** P33: restarts pauses that were recorded under a clock which was set back since. */
export async function rebasePauses(trx: Trx, at: string): Promise<void> {
  const ahead = await trx.selectFrom('pauses').selectAll().where('noted_at', '>', at).execute();
  for (const { name } of ahead) {
    const pause = await pauseOf(trx, name, Date.parse(at));
    await trx
      .updateTable('pauses')
      .set({ until_at: later(at, pause.leftMs), noted_at: at })
      .where('name', '=', name)
      .execute();
  }
}
