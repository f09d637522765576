import { type RawBuilder, sql } from 'kysely';
import { type HistoryEvent, settleEvents } from '../domain/history-event.ts';
import type { RecordSource } from '../domain/payout.ts';

/** These events of a history, as a list for `in`. */
export function eventList(...events: readonly HistoryEvent[]): RawBuilder<unknown> {
  return sql`(${sql.join(events.map((event) => sql.lit(event)))})`;
}

/** What a person settled, as either state. */
export const settledEvents = eventList(...Object.values(settleEvents));

/** True where history entry `h` is a person's decision that the payout has ended in this state (P32). */
export function isSettledAs(state: string): RawBuilder<boolean> {
  const both = Object.entries(settleEvents).map(
    ([as, event]) => sql`${sql.ref(state)} = ${sql.lit(as)} and h.event = ${sql.lit(event)}`,
  );
  return sql`(${sql.join(both, sql` or `)})`;
}

/** True where the evidence in this column names one of these sources. No source's name is a part of another's. */
export function restsOnAny(column: string, sources: readonly RecordSource[]): RawBuilder<boolean> {
  const each = sources.map((source) => sql`${sql.ref(column)} like ${sql.lit(`%${source}%`)}`);
  return sql`(${sql.join(each, sql` or `)})`;
}
