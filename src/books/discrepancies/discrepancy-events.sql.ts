import { sql } from 'kysely';
import type { LifeEvent } from '../../core/domain/discrepancy-life.ts';
import { field, rowsOf, textsOf } from '../../core/storage/bulk.ts';
import { inParts } from '../../core/storage/keyset.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';

/** One event in the life of a discrepancy; `source` is `run RUN` or `person:NAME`. */
export type Turned = { id: string; at: string; event: LifeEvent; source: string; note: string };

/** Appends events to discrepancies. The results of their batches show them, so those are written again. */
export async function addEvents(trx: Trx, events: readonly Turned[]): Promise<void> {
  if (events.length === 0) return;
  await sql`insert into discrepancy_events (discrepancy_id, at, event, source, note)
    select ${field('id')}, ${field('at')}, ${field('event')}, ${field('source')}, ${field('note')}
    from ${rowsOf(events)} as row where true order by row.key`.execute(trx);
  await sql`update batches set version = version + 1 where id in (select d.batch_id from discrepancies d
    where d.id in ${textsOf(events.map(({ id }) => id))})`.execute(trx);
}

/** An event as people see it. */
export type Life = Pick<Turned, 'at' | 'event' | 'source' | 'note'>;

/** All events of these discrepancies, by id, the oldest first. */
export async function livesOf(db: Db | Trx, ids: readonly string[]): Promise<Map<string, Life[]>> {
  const lives = new Map<string, Life[]>();
  for (const some of inParts(ids, 500)) {
    const rows = await db
      .selectFrom('discrepancy_events')
      .select(['discrepancy_id', 'at', 'event', 'source', 'note'])
      .where('discrepancy_id', 'in', some)
      .orderBy('id')
      .execute();
    for (const { discrepancy_id: id, ...turn } of rows) lives.set(id, [...(lives.get(id) ?? []), turn]);
  }
  return lives;
}
