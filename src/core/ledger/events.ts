import { sql } from 'kysely';
import type { EventType } from '../domain/event-type.ts';
import type { EventData } from '../shapes/event-shapes.ts';
import { field, rowsOf } from '../storage/bulk.ts';
import type { Trx } from '../storage/ledger.ts';

/** Types of events that are rows of their own. An entry of a payout's history is its `payout.changed`. */
type ToldType = Exclude<EventType, 'payout.changed'>;

/** Something to tell programs. `reference`: of a payout or transfer, where it is about one. */
export type NewEvent = {
  [T in ToldType]: { type: T; batch?: string | null; reference?: string | null; data: EventData<T> };
}[ToldType];

/**
 * Tells programs what this transaction does, after everything that it has written to the history so far (P39). `at`: ISO
 * UTC.
 */
export async function tell(trx: Trx, at: string, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ type, batch = null, reference = null, data }) => {
    return { type, batch, reference, data: JSON.stringify(data) };
  });
  await sql`insert into events (after_history, at, type, batch_id, reference, data)
    select (select coalesce(max(id), 0) from history), ${at}, ${field('type')}, ${field('batch')},
      ${field('reference')}, ${field('data')}
    from ${rowsOf(rows)} as row where true order by row.key`.execute(trx);
}
