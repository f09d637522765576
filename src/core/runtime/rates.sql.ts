import { type Selectable, sql } from 'kysely';
import { remainingMs } from '../domain/wait.ts';
import { isPostgres } from '../storage/dialect.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { Tables } from '../storage/tables/tables.ts';

type Stored = Selectable<Tables['rates']>;

/**
 * Reserves `count` evenly spaced starts (GCRA without a burst), later than all that other processes on this ledger
 * reserved. Returns the wait for each, in ms.
 */
export async function reserveEven(
  trx: Trx,
  name: string,
  want: { count: number; intervalMs: number; nowMs: number },
): Promise<number[]> {
  const nowMs = await sharedNow(trx, want.nowMs);
  const row = await trx.selectFrom('rates').selectAll().where('name', '=', name).executeTakeFirst();
  const first = waitFor(row, nowMs);
  await reserveAt(trx, name, { nextMs: nowMs + first + want.count * want.intervalMs, nowMs });
  return Array.from({ length: want.count }, (_, index) => first + index * want.intervalMs);
}

/**
 * Takes one start if one is free now, so that no window of `perMs` holds more than `limit`; a burst may spend them all.
 * Each of the `limit` slots is a row with the time when it is free again. Returns 0, or the ms until a slot is free.
 */
export async function takeBurst(
  trx: Trx,
  name: string,
  want: { limit: number; perMs: number; nowMs: number },
): Promise<number> {
  const nowMs = await sharedNow(trx, want.nowMs);
  const names = Array.from({ length: want.limit }, (_, index) => `${name}#${index}`);
  const rows = await trx.selectFrom('rates').selectAll().where('name', 'in', names).execute();
  // A slot noted under a clock that was set back since would stay equally far ahead: it is counted from now on.
  for (const row of rows)
    if (Number(row.noted_at_ms) > nowMs)
      await reserveAt(trx, row.name, { nextMs: nowMs + waitFor(row, nowMs), nowMs });
  const stored = new Map(rows.map((row) => [row.name, row]));
  const slots = names.map((slot) => ({ slot, wait: waitFor(stored.get(slot), nowMs) }));
  const earliest = slots.reduce((best, slot) => (slot.wait < best.wait ? slot : best));
  if (earliest.wait === 0) await reserveAt(trx, earliest.slot, { nextMs: nowMs + want.perMs, nowMs });
  return earliest.wait;
}

function waitFor(row: Stored | undefined, nowMs: number): number {
  if (!row) return 0;
  return remainingMs({ untilMs: Number(row.next_at_ms), notedMs: Number(row.noted_at_ms) }, nowMs);
}

async function reserveAt(trx: Trx, name: string, at: { nextMs: number; nowMs: number }): Promise<void> {
  const row = { next_at_ms: BigInt(Math.ceil(at.nextMs)), noted_at_ms: BigInt(Math.floor(at.nowMs)) };
  await trx
    .insertInto('rates')
    .values({ name, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute();
}

/**
 * The clock that reservations and alerts are counted by, in ms since the epoch. Machines that share a ledger have clocks some seconds apart. By its own
 * clock, a machine that is behind would wait too long, and one that is ahead would find slots free that are not.
 */
export async function sharedNow(db: Db | Trx, ownMs: number): Promise<number> {
  if (!isPostgres(db)) return ownMs;
  const { rows } = await sql<{ now_ms: bigint }>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`.execute(db);
  return Number(rows[0]?.now_ms ?? ownMs);
}
