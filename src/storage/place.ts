import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Where a ledger lies. `path` is the SQLite file, or the name in the data folder beside which this machine keeps its
 * mark (P25) of a ledger on PostgreSQL. The URL holds a password: it goes into no message.
 */
export type Place = { kind: 'sqlite'; path: string } | PostgresPlace;

export type PostgresPlace = { kind: 'postgres'; path: string; url: string };

/** A place as a function takes it: a bare text is a SQLite file. */
export function placeOf(place: string | Place): Place {
  return typeof place === 'string' ? { kind: 'sqlite', path: followed(place) } : place;
}

/**
 * One name for one file: gate, locks and mark lie beside the ledger by its name, and a link to it would give it a second set
 * of them. Whoever came by the link would then be alone beside others (P25, P26).
 */
function followed(path: string): string {
  try {
    if (!lstatSync(path).isSymbolicLink()) return path;
  } catch {
    return path;
  }
  try {
    return realpathSync(path);
  } catch {
    // Of a ledger that is not made yet.
    return resolve(dirname(path), readlinkSync(path));
  }
}

/** The place that a URL of the configuration names: `sqlite:FILE`, relative to the data folder, or `postgres://…`. */
export function placeNamed(url: string, dataDir: string): Place {
  return url.startsWith('postgres')
    ? { kind: 'postgres', path: join(dataDir, 'ledger.postgres'), url }
    : { kind: 'sqlite', path: followed(resolve(dataDir, url.replace(/^sqlite:(\/\/(?=\/))?/, ''))) };
}

/** What names the place to a person: a file, or a database without its password. */
export function nameOf(place: Place): string {
  return place.kind === 'sqlite' ? place.path : withoutPassword(place.url);
}

/** What stands where a URL has its password. */
export const shownPassword = '***';

/** A PostgreSQL URL as it may be shown. */
function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = shownPassword;
  for (const name of [...shown.searchParams.keys()])
    if (/pass|key/i.test(name)) shown.searchParams.delete(name);
  return shown.href;
}

/** The schema that the ledger's tables lie in: `?schema=` of the URL, so that one database can hold several ledgers. */
export function schemaOf(url: string): string {
  return new URL(url).searchParams.get('schema') ?? 'counterfoil';
}

/** A number for an advisory lock: advisory locks are shared by a whole database, so the schema is part of the name. */
export function lockKey(schema: string, name: string): bigint {
  return createHash('sha256').update(`counterfoil ${schema} ${name}`).digest().readBigInt64BE(0);
}

/** The rows of `pg_locks` about one advisory lock, held or waited for. */
export function advisoryLocks(schema: string, name: string): string {
  const key = BigInt.asUintN(64, lockKey(schema, name));
  return `pg_locks where locktype = 'advisory'
    and database = (select oid from pg_database where datname = current_database())
    and classid = ${key >> 32n} and objid = ${key & 0xffffffffn} and objsubid = 1`;
}
