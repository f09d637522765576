import { sql } from 'kysely';
import { keepMeta, metaOf } from '../core/ledger/meta.ts';
import { isPostgres } from '../core/storage/dialect.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';

/** In `meta`: the PostgreSQL server and the timeline on which this ledger was last seen. */
export const timelineKey = 'postgres_timeline';

/**
 * P25: why this ledger may have gone back in time with its server; undefined where it has not. A restored server, or a
 * standby that took over, begins a new timeline and may lack confirmed commits. Records the first timeline.
 */
export async function timelineFall(trx: Trx): Promise<string | undefined> {
  const why = await timelineChange(trx);
  if (why !== 'unnoted') return why;
  await keepMeta(trx, timelineKey, await timelineOf(trx));
  return undefined;
}

/** The same without recording: `unnoted` where no timeline is recorded yet. */
export async function timelineChange(db: Db | Trx): Promise<string | undefined> {
  if (!isPostgres(db)) return undefined;
  const now = await timelineOf(db);
  const seen = await metaOf(db, timelineKey);
  if (seen === undefined) return 'unnoted';
  if (seen === now) return undefined;
  const [server, timeline] = seen.split('/');
  const [itsServer, itsTimeline] = now.split('/');
  return server === itsServer
    ? `its PostgreSQL server was restored or a standby took over: timeline ${itsTimeline}, before ${timeline}`
    : 'its PostgreSQL server is another one than before';
}

async function timelineOf(db: Db | Trx): Promise<string> {
  const { rows } = await sql<{ server: string; timeline: string }>`
    select (select system_identifier::text from pg_control_system()) as server,
      substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline`.execute(db);
  const [row] = rows;
  return `${row?.server ?? ''}/${Number.parseInt(row?.timeline ?? '0', 16)}`;
}
