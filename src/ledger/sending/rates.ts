import { sql } from 'kysely';
import { isPostgres } from '../database/dialect.ts';
import type { Trx } from '../open.ts';

/** A reservation further ahead than this comes from a clock that was set back, so it is forgotten. */
const farAheadMs = 3_600_000;

/**
 * Reserves `count` starts that follow each other evenly (GCRA without a burst), after all those other processes on
 * this ledger reserved. Returns how long to wait for each, in ms.
 */
export async function reserveEven(
  trx: Trx,
  name: string,
  want: { count: number; intervalMs: number; nowMs: number },
): Promise<number[]> {
  const nowMs = await sharedNow(trx, want.nowMs);
  const row = await trx.selectFrom('rates').select('next_at_ms').where('name', '=', name).executeTakeFirst();
  const first = Math.max(nowMs, sane(row?.next_at_ms, nowMs));
  const next = BigInt(Math.ceil(first + want.count * want.intervalMs));
  await trx
    .insertInto('rates')
    .values({ name, next_at_ms: next })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ next_at_ms: next }))
    .execute();
  return Array.from({ length: want.count }, (_, index) => first - nowMs + index * want.intervalMs);
}

/**
 * Reserves one start such that no window of `perMs` holds more than `limit`: all may be spent in one burst. Each of
 * the `limit` slots is a row that tells when it is free again; the one that is free first is taken. Returns how long to
 * wait for it, in ms. `nowOnly`: where none is free by now nothing is reserved, and it is how long until one will be.
 */
export async function reserveBurst(
  trx: Trx,
  name: string,
  want: { limit: number; perMs: number; nowMs: number; nowOnly?: boolean },
): Promise<number> {
  const nowMs = await sharedNow(trx, want.nowMs);
  const names = Array.from({ length: want.limit }, (_, index) => `${name}#${index}`);
  const rows = await trx.selectFrom('rates').selectAll().where('name', 'in', names).execute();
  const freeAt = new Map(rows.map((row) => [row.name, sane(row.next_at_ms, nowMs)]));
  const slots = names.map((slot) => ({ slot, at: Math.max(nowMs, freeAt.get(slot) ?? 0) }));
  const earliest = slots.reduce((best, slot) => (slot.at < best.at ? slot : best));
  if (want.nowOnly && earliest.at > nowMs) return earliest.at - nowMs;
  const next = BigInt(Math.ceil(earliest.at + want.perMs));
  await trx
    .insertInto('rates')
    .values({ name: earliest.slot, next_at_ms: next })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ next_at_ms: next }))
    .execute();
  return earliest.at - nowMs;
}

function sane(stored: bigint | undefined, nowMs: number): number {
  const at = Number(stored ?? 0n);
  return at > nowMs + farAheadMs ? nowMs : at;
}

/**
 * The clock that reservations are counted by. Machines that share a ledger have clocks of their own, some seconds apart:
 * by its own, the one behind would wait for the other's starts as if they were to come, and the one ahead would find
 * slots free that are not.
 */
async function sharedNow(trx: Trx, ownMs: number): Promise<number> {
  if (!isPostgres(trx)) return ownMs;
  const { rows } = await sql<{ now_ms: bigint }>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`.execute(trx);
  return Number(rows[0]?.now_ms ?? ownMs);
}
