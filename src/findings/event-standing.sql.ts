import type { Selectable } from 'kysely';
import { readEvents } from '../core/ledger/event-feed.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Tables } from '../core/storage/tables/tables.ts';
import { type Finding, plainFinding } from './finding.ts';

/** The only receiver that events are posted to: `events.url`. */
export const outboxName = 'url';
/** How long the next event may wait. */
const lateMs = 15 * 60_000;
/** How long events that were given up are shown. */
const shownMs = 7 * 24 * 3_600_000;

/** How far `events.url` was told; undefined before `serve` has run with it. */
export function findOutbox(db: Db | Trx): Promise<Selectable<Tables['event_outboxes']> | undefined> {
  return db.selectFrom('event_outboxes').selectAll().where('name', '=', outboxName).executeTakeFirst();
}

/** Finds that `events.url` does not get its events: the next one waits too long, or some were given up. */
export async function undelivered(
  db: Db | Trx,
  { config, nowMs }: { config: Pick<Config, 'events'>; nowMs: number },
): Promise<Finding<'events_undelivered'>[]> {
  const row = config.events.url === '' ? undefined : await findOutbox(db);
  if (!row) return [];
  const next = await readEvents(db, { after: row.after_cursor, limit: 1, details: false });
  const since = next.kind === 'page' ? (next.events[0]?.at ?? null) : row.noted_at;
  const isLate = since !== null && nowMs - Date.parse(since) > lateMs;
  const isLost = row.gave_up_at !== null && nowMs - Date.parse(row.gave_up_at) < shownMs;
  if (!isLate && !isLost) return [];
  const gaveUp = isLost ? Number(row.gave_up) : 0;
  const facts = { gaveUp, problem: row.problem };
  return [
    { ...plainFinding('events_undelivered', '', gaveUp), since: isLate ? since : row.gave_up_at, facts },
  ];
}
