import type { ClientConfig, CustomTypesConfig, Pool, PoolConfig } from 'pg';
import { PostgresFailure } from './failure.ts';
import { machineSetting } from './machine.ts';
import { schemaOf } from './place.ts';

/** How long a statement waits for another process's transaction before it fails. */
const lockTimeoutMs = 60_000;
/** A transaction that stands still for this long is ended, before the processes that wait for it give up. */
const standstillMs = 30_000;

const bool = 16;
const bytea = 17;
const int8 = 20;
const int2 = 21;
const int4 = 23;
const numeric = 1700;

/** Reads every whole number as bigint and true as 1, as SQLite does; JSON stays text. */
const types: CustomTypesConfig = {
  getTypeParser: (oid: number) => {
    if (oid === int8 || oid === int4 || oid === int2) return BigInt;
    if (oid === numeric) return (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text));
    if (oid === bool) return (text: string) => (text === 't' ? 1n : 0n);
    if (oid === bytea) return (text: string) => Buffer.from(text.slice(2), 'hex');
    return (text: string) => text;
  },
};

/** The settings of every connection to the ledger at `url`. */
export function clientConfig(
  url: string,
  more: { standsStill?: boolean; machine?: string } = {},
): ClientConfig & PoolConfig {
  const address = new URL(url);
  const given = address.searchParams.get('options');
  for (const name of ['schema', 'options']) address.searchParams.delete(name);
  const settings = {
    search_path: schemaOf(url),
    lock_timeout: lockTimeoutMs,
    // A snapshot may stand still while a person reads: no other process waits for it.
    idle_in_transaction_session_timeout: more.standsStill ? 0 : standstillMs,
    statement_timeout: 0,
    // A machine that vanishes is noticed after 25 s; by then it has stopped by itself (P3).
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 3,
    ...(more.machine !== undefined && { [machineSetting]: more.machine }),
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  return {
    connectionString: address.href,
    options: [...(given === null ? [] : [given]), ...options].join(' '),
    application_name: 'counterfoil',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  };
}

/**
 * Keeps broken connections from ending the process. The pool replaces an idle connection; a query in use rejects by
 * itself. A connection outside the pool also needs a listener for the server's end.
 */
export function tolerateBreaks(pool: Pool): void {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
}

/** PostgreSQL's text cannot hold NUL: replace it with U+FFFD. */
export function parameterFor(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}

/** The server gave up waiting for a lock, or ended a deadlock. It rolled back, and nothing happened. */
const blocked = ['55P03', '40P01'];

/** Turns an error of the driver or a socket into a failure of the ledger, without the server's detail: it may hold values. */
export function failureOf(error: unknown): PostgresFailure {
  if (error instanceof PostgresFailure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (blocked.includes(code))
    return new PostgresFailure(
      'HELD',
      'another session of the database holds a lock on the rows or tables to be changed',
      error,
    );
  const message = error instanceof Error && error.message !== '' ? error.message : code || String(error);
  return new PostgresFailure(code || 'CONNECTION', message, error);
}
