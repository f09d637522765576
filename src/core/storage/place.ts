import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Where a ledger is. `path` is the SQLite file. For PostgreSQL it is the base name of this machine's mark in the data
 * folder (P25). The URL holds a password: no message may contain it.
 */
export type Place = FilePlace | PostgresPlace;

type FilePlace = { kind: 'sqlite'; path: string };

export type PostgresPlace = { kind: 'postgres'; path: string; url: string };

/** Whether the ledger is one file, which Counterfoil itself copies, archives and restores. A server has tools for that. */
export function isLedgerFile(place: Place): place is FilePlace {
  return place.kind === 'sqlite';
}

/** Whether processes on several machines may share the ledger. */
export function isSharedLedger(place: Place): boolean {
  return !isLedgerFile(place);
}

/** Normalises a place: a plain string is a SQLite file. */
export function placeOf(place: string | Place): Place {
  return typeof place === 'string' ? { kind: 'sqlite', path: followed(place) } : place;
}

/**
 * Resolves a link, so that one file has one name. Gate, locks and mark are beside the ledger and bear its name. A
 * process that came through a link would find other ones, and would not see the first (P25, P26).
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
    // The link's target does not exist yet.
    return resolve(dirname(path), readlinkSync(path));
  }
}

/** Parses the ledger URL of the configuration: `sqlite:FILE`, relative to the data folder, or `postgres://…`. */
export function placeNamed(url: string, dataDir: string): Place {
  return url.startsWith('postgres')
    ? { kind: 'postgres', path: join(dataDir, 'ledger.postgres'), url }
    : { kind: 'sqlite', path: followed(resolve(dataDir, url.replace(/^sqlite:(\/\/(?=\/))?/, ''))) };
}

/** The place's name for people: a file, or a database URL without its password. */
export function placeName(place: Place): string {
  return isLedgerFile(place) ? place.path : withoutPassword(place.url);
}

export const maskedPassword = '***';

function withoutPassword(url: string): string {
  const masked = new URL(url);
  if (masked.password !== '') masked.password = maskedPassword;
  for (const name of [...masked.searchParams.keys()])
    if (/pass|key/i.test(name)) masked.searchParams.delete(name);
  return masked.href;
}

/** The schema of the ledger's tables: `?schema=` of the URL, so that one database can hold several ledgers. */
export function schemaOf(url: string): string {
  return new URL(url).searchParams.get('schema') ?? 'counterfoil';
}

/** The number of an advisory lock. The whole database shares these numbers, so the schema is part of the name. */
export function lockKey(schema: string, name: string): bigint {
  return createHash('sha256').update(`counterfoil ${schema} ${name}`).digest().readBigInt64BE(0);
}

/** The rows of `pg_locks` for one advisory lock, whether held or awaited. */
export function advisoryLocks(schema: string, name: string): string {
  const key = BigInt.asUintN(64, lockKey(schema, name));
  return `pg_locks where locktype = 'advisory'
    and database = (select oid from pg_database where datname = current_database())
    and classid = ${key >> 32n} and objid = ${key & 0xffffffffn} and objsubid = 1`;
}
