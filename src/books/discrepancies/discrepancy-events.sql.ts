import { sql } from 'kysely';
import type { LifeEvent } from '../../core/domain/discrepancy-life.ts';
import { type NewEvent, tell } from '../../core/ledger/events.ts';
import { field, rowsOf, textsOf } from '../../core/storage/bulk.ts';
import { inParts } from '../../core/storage/keyset.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { Discrepancy } from '../../core/storage/tables/tables.ts';

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
  await tellTurns(trx, events);
}

const told: Record<LifeEvent, 'opened' | 'reopened' | 'closed' | null> = {
  opened: 'opened',
  reopened: 'reopened',
  changed: null,
  acknowledged: null,
  resolved: 'closed',
  closed: 'closed',
};

/** Tells programs which discrepancies opened or closed (P39). The discrepancies have been changed before. */
export async function tellTurns(
  trx: Trx,
  turns: readonly Pick<Turned, 'id' | 'at' | 'event'>[],
): Promise<void> {
  for (const some of inParts(turns, 500)) {
    const ids = some.flatMap(({ id, event }) => (told[event] === null ? [] : [id]));
    const columns = ['id', 'kind', 'severity', 'batch_id', 'reference'] as const;
    const rows = await trx
      .selectFrom('discrepancies')
      .select(columns)
      .where('id', 'in', textsOf(ids))
      .execute();
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const [at, own] of Map.groupBy(some, (turn) => turn.at))
      await tell(
        trx,
        at,
        own.flatMap(({ id, event }) => eventOf(byId.get(id), event) ?? []),
      );
  }
}

type About = Pick<Discrepancy, 'id' | 'kind' | 'severity' | 'batch_id' | 'reference'>;

function eventOf(about: About | undefined, event: LifeEvent): NewEvent | undefined {
  const change = told[event];
  if (!about || change === null) return undefined;
  const { id, kind, severity, batch_id: batch, reference } = about;
  const of = { batch, reference: reference || null };
  return change === 'closed'
    ? {
        type: 'discrepancy.closed',
        ...of,
        data: { id, kind, severity, by: event === 'resolved' ? 'person' : 'evidence' },
      }
    : { type: 'discrepancy.opened', ...of, data: { id, kind, severity, again: change === 'reopened' } };
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
      .where('discrepancy_id', 'in', textsOf(some))
      .orderBy('id')
      .execute();
    for (const { discrepancy_id: id, ...turn } of rows) lives.set(id, [...(lives.get(id) ?? []), turn]);
  }
  return lives;
}
