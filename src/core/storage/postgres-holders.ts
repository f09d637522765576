import { advisoryLocks } from './place.ts';

/**
 * Selects the sessions that have held rows or tables of a schema for some seconds, writers of the ledger excluded. The
 * database shows the start time only to users with that right.
 */
const question = (
  schema: string,
): string => `select a.pid::text, a.usename::text as person, a.application_name as program,
    to_char(a.xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
  from pg_stat_activity as a
  where a.datname = current_database() and (a.xact_start is null or a.xact_start < clock_timestamp() - interval '2 s')
    and exists (select from pg_locks as l join pg_class as c on c.oid = l.relation
      where l.pid = a.pid and l.granted and l.mode <> 'AccessShareLock' and c.relnamespace = to_regnamespace('"${schema}"'))
    and a.pid not in (select pid from ${advisoryLocks(schema, 'write')})
  order by a.xact_start nulls first, a.pid limit 3`;

/** Describes the sessions that block changes to the ledger, and how to end them; empty where none is visible. */
export async function holdersOf(
  { ask }: { ask(text: string): Promise<Record<string, unknown>[]> },
  schema: string,
): Promise<string> {
  const rows = await ask(question(schema));
  const who = rows.map(({ pid, person, program, since }) => {
    const open = ['has a transaction open', ...(typeof since === 'string' ? [since] : [])].join(' since ');
    return `session ${String(pid)} (${[person, program].filter(Boolean).join(', ')}) ${open}`;
  });
  if (who.length === 0) return '';
  return `${who.join('; ')}: commit it or roll it back there, or end the session with select pg_terminate_backend(${String(rows[0]?.pid)})`;
}
