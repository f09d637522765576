import { type RawBuilder, sql } from 'kysely';

/**
 * In SQL, the newest history entry that was there when some run began by this instant (ISO UTC); 0 where none did. It is
 * older than the instant, whatever its own stamp says: a clock that was ahead may have written that (P33).
 */
export function knownBefore(instant: string): RawBuilder<bigint> {
  return sql<bigint>`coalesce((select max(history_mark) from runs where started_at <= ${instant}), 0)`;
}
