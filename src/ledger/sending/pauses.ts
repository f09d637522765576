import { longestPauseMs } from '../../domain/pause.ts';
import type { Db, Trx } from '../open.ts';

/** Until when an endpoint is left alone, in wall-clock ms (0: it is not), and how often in a row it had to be. */
export type Pause = { untilMs: number; strikes: number; why: string };

/** The pause of this name, of whichever process noted it. */
export async function pauseOf(db: Db | Trx, name: string, nowMs: number): Promise<Pause> {
  const row = await db.selectFrom('pauses').selectAll().where('name', '=', name).executeTakeFirst();
  if (!row) return { untilMs: 0, strikes: 0, why: '' };
  const untilMs = Date.parse(row.until_at);
  const stands = untilMs > nowMs && untilMs <= nowMs + longestPauseMs;
  return { untilMs: stands ? untilMs : 0, strikes: Number(row.strikes), why: row.why };
}

/** Notes a pause; a shorter one does not end a longer one that stands. */
export async function notePause(trx: Trx, name: string, pause: Pause, nowMs: number): Promise<void> {
  const before = await pauseOf(trx, name, nowMs);
  const until_at = new Date(Math.max(before.untilMs, pause.untilMs)).toISOString();
  const strikes = BigInt(pause.strikes);
  await trx
    .insertInto('pauses')
    .values({ name, until_at, strikes, why: pause.why })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ until_at, strikes, why: pause.why }))
    .execute();
}

/** The endpoint answered: the next trouble counts as the first again. */
export async function endStrikes(trx: Trx, name: string): Promise<void> {
  await trx.updateTable('pauses').set({ strikes: 0n }).where('name', '=', name).execute();
}
