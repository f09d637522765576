import { Socket } from 'node:net';
import type { Client } from 'pg';
import { PostgresFailure } from './failure.ts';
import { advisoryLocks, lockKey, schemaOf } from './place.ts';
import { clientConfig, failureOf } from './postgres-client.ts';

/** How often a process checks that it still has its session, and how long it waits for the answer. */
const beatMs = 2000;
const answerMs = 4000;
const graceMs = 1000;

/** A plan cached while a table was nearly empty would read the whole table each time; writes find rows by key. */
const byIndex = 'set local enable_seqscan = off';

/**
 * The process with the ledger's write lock never waits for another writer. A locked row then belongs to someone else,
 * such as a person in psql, and every writer would queue behind it.
 */
const briefly = `set local lock_timeout = '3s'`;

/**
 * Each statement must see everything committed before it (P2). Under a stricter default of the database, statements
 * after the wait for the lock would see the state before it. A halt set meanwhile would go unseen.
 */
const beginNow = 'begin isolation level read committed';

/** P25: it was on when the ledger was opened. If a person turned it off since, no confirmed commit may be lost. */
const durably = `select set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'`;

/** A lock that is freed when its process or its connection ends. */
export type SessionLock = { release(): Promise<void> };

/**
 * One connection for as long as a ledger is open (P3). Its advisory locks show every machine that this process lives.
 * Once it is lost, others may have taken over, and this process writes nothing more.
 */
export type PostgresSession = {
  /** The statements that begin a write transaction: exclusive among all writers, and only while this session lives. */
  begin: string;
  /** Takes a named lock of the ledger; null when another holder, in this process or elsewhere, has it. */
  hold(name: string, how?: 'shared' | 'exclusive'): Promise<SessionLock | null>;
  isFree(name: string): Promise<boolean>;
  ask(text: string): Promise<Record<string, unknown>[]>;
  /**
   * The socket of a further connection, which closes with the session. In a network that drops everything, a query on
   * it would otherwise wait a quarter of an hour for the system to give up.
   */
  stream(): Socket;
  /** Describes the sessions that block changes to the ledger, and how to end them; empty if none. Never throws. */
  holders(): Promise<string>;
  /** Why this process may write nothing more; null while it may. */
  lost(): PostgresFailure | null;
  close(): Promise<void>;
};

/** Connects to the ledger at `url`. Throws PostgresFailure when that cannot be done. */
export async function openPostgresSession(url: string): Promise<PostgresSession> {
  const { Client: PostgresClient } = await import('pg');
  const sockets = new Set<Socket>();
  const stream = (): Socket => {
    const socket = new Socket();
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };
  const client: Client = new PostgresClient({ ...clientConfig(url), stream });
  const schema = schemaOf(url);
  let failure: PostgresFailure | null = null;
  let closed = false;
  const lose = (why: string, cause?: unknown): void => {
    if (closed) return;
    failure ??= new PostgresFailure(
      'SESSION_LOST',
      `the connection that proves this process alive was lost (${why}): others may have taken over its work, and it changes nothing more`,
      cause,
    );
    for (const socket of sockets) socket.destroy();
  };
  client.on('error', (error) => lose(error.message, error));
  client.on('end', () => lose('it ended'));
  await client.connect().catch((error: unknown) => {
    throw failureOf(error);
  });
  // One query at a time; a lost answer means a lost session.
  let last: Promise<unknown> = Promise.resolve();
  const ask = (text: string): Promise<Record<string, unknown>[]> => {
    const answer = last.then(async () => {
      if (failure) throw failure;
      const result = await within(answerMs, client.query<Record<string, unknown>>(text));
      return result.rows;
    });
    last = answer.catch(() => undefined);
    return answer.catch((error: unknown) => {
      const known = failureOf(error);
      if (known.code === 'POSTGRES_TIMEOUT') lose(known.message, error);
      throw known;
    });
  };
  const identity = `select pg_backend_pid()::text as pid, (select a.backend_start::text from pg_stat_get_activity(pg_backend_pid()) as a) as born`;
  const [self] = await ask(identity);
  const pid = String(self?.pid);
  const born = String(self?.born);
  const beat = setInterval(() => {
    ask(identity).then(
      // Behind a transaction pooler, sessions change hands, and their locks are not ours.
      ([now]) => now?.pid === pid || lose('a connection pooler gave it to others; use a direct connection'),
      () => undefined,
    );
  }, beatMs);
  beat.unref();
  const held = new Set<string>();
  return {
    begin: `${beginNow}; ${byIndex}; ${durably}; select pg_advisory_xact_lock(${lockKey(schema, 'write')}); ${briefly}; ${onlyWhile(pid, born)}`,
    async hold(name, how = 'exclusive') {
      if (held.has(name)) return null;
      held.add(name);
      const suffix = how === 'shared' ? '_shared' : '';
      const key = lockKey(schema, name);
      const [row] = await ask(`select pg_try_advisory_lock${suffix}(${key}) as taken`).catch(
        (error: unknown) => {
          held.delete(name);
          throw error;
        },
      );
      if (row?.taken !== 1n) {
        held.delete(name);
        return null;
      }
      return {
        async release() {
          if (!held.delete(name)) return;
          // A lost session has freed its locks already.
          await ask(`select pg_advisory_unlock${suffix}(${key})`).catch(() => undefined);
        },
      };
    },
    async isFree(name) {
      const [row] = await ask(`select count(*) as n from ${advisoryLocks(schema, name)} and granted`);
      return row?.n === 0n;
    },
    ask,
    stream,
    holders: () => holdersOf({ ask }, schema).catch(() => ''),
    lost: () => failure,
    async close() {
      closed = true;
      clearInterval(beat);
      await last;
      await client.end().catch(() => undefined);
    },
  };
}

/**
 * Divides by zero unless the session still exists. It runs inside the transaction, after the lock. A process that took
 * over therefore waits for this transaction, or this transaction fails.
 */
function onlyWhile(pid: string, born: string): string {
  return `select 1 / count(*) from pg_stat_get_activity(${pid}) as a where a.backend_start = '${born}'::timestamptz`;
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(new PostgresFailure('TIMEOUT', `no answer within ${ms} ms`));
    // A process that was suspended finds its timer expired before it reads an answer that has arrived.
    timer = setTimeout(() => {
      timer = setTimeout(giveUp, graceMs);
    }, ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

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
async function holdersOf(
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
