import { Socket } from 'node:net';
import type { Client } from 'pg';
import { PostgresFailure } from './failure.ts';
import { advisoryLocks, lockKey, schemaOf } from './place.ts';
import { clientConfig, failureOf } from './postgres-client.ts';
import { holdersOf } from './postgres-holders.ts';

/** How often a process makes sure that it still has its session, and how long it waits for the answer. */
const beatMs = 2000;
const answerMs = 4000;
const graceMs = 1000;

/**
 * What is written is found by its keys. A plan that was made while a table was nearly empty, and kept, would read the whole
 * table each time once it is large, until the server's own analysis comes round.
 */
const byIndex = 'set local enable_seqscan = off';

/**
 * Whoever has the ledger's one lock waits for nobody of the ledger: a row that is locked then is a stranger's, such as a
 * person's in psql, and everybody would wait behind it.
 */
const briefly = `set local lock_timeout = '3s'`;

/**
 * Each statement sees what was committed before it (P2): were the database's default stricter, everything after the wait
 * for the ledger's lock would be seen as it was before that wait, and a halt made meanwhile not at all.
 */
const beginNow = 'begin isolation level read committed';

/** P25: who opened the ledger found it on; a server that was told otherwise since must not lose what we answered for. */
const durably = `select set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'`;

/** A lock that goes when its process or its connection does. */
export type SessionLock = { release(): Promise<void> };

/**
 * One connection for as long as a ledger is open (P3): its advisory locks tell others that this process lives, whatever
 * machine they are on. Once it is lost, others may have taken this process for dead, and it writes nothing more.
 */
export type Session = {
  /** The statements that a write transaction begins with: alone among all writers, and only while this session lives. */
  begin: string;
  /** Takes a named lock of the ledger, or answers null when another holder has it, in this process or elsewhere. */
  hold(name: string, how?: 'shared' | 'exclusive'): Promise<SessionLock | null>;
  /** True when nobody holds the lock. */
  isFree(name: string): Promise<boolean>;
  ask(text: string): Promise<Record<string, unknown>[]>;
  /**
   * The socket of a further connection, which is cut with the session: where the network swallows everything, what was
   * asked over it would else be waited for until the system gives up, a quarter of an hour.
   */
  stream(): Socket;
  /** Which other sessions keep the ledger from being changed, and the way out; empty where none is seen. Never throws. */
  holders(): Promise<string>;
  /** Why this process may write nothing more; null while it may. */
  lost(): PostgresFailure | null;
  close(): Promise<void>;
};

/** Connects to the ledger at `url`. Throws PostgresFailure when that cannot be done. */
export async function openSession(url: string): Promise<Session> {
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
      `the connection that shows this process alive was lost (${why}): others may have taken it for dead, so that it changes nothing more`,
      cause,
    );
    for (const socket of sockets) socket.destroy();
  };
  client.on('error', (error) => lose(error.message, error));
  client.on('end', () => lose('it ended'));
  await client.connect().catch((error: unknown) => {
    throw failureOf(error);
  });
  // One question at a time; a lost answer is a lost session.
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
      // Behind a pooler of transactions a session is nobody's, and its locks are not ours.
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
          // A lost session has freed it already.
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
 * Divides by zero unless the session is still there: asked inside the transaction, after its lock, so that whoever took
 * over waits for this transaction or is waited for by none.
 */
function onlyWhile(pid: string, born: string): string {
  return `select 1 / count(*) from pg_stat_get_activity(${pid}) as a where a.backend_start = '${born}'::timestamptz`;
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(new PostgresFailure('TIMEOUT', `no answer within ${ms} ms`));
    // A process that stood still itself finds its timer run out before it has read the answer that lies there.
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
