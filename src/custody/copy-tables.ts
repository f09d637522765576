import { createHash, type Hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { type RawBuilder, sql } from 'kysely';
import { storable } from '../core/storage/bulk.ts';
import type { Trx } from '../core/storage/ledger.ts';
import { openDatabase } from '../core/storage/sqlite.ts';

/** Rows per chunk: some hundred kilobytes. */
const chunk = 500;

/** A table of the SQLite file: its columns, the order of its rows, and the tables that its rows refer to. */
type Table = { name: string; columns: string[]; order: string[]; parents: string[] };
type Value = string | bigint | Uint8Array | null;
type Row = Record<string, Value>;

/**
 * Copies every table of the ledger file at `path` into PostgreSQL's empty tables, in the caller's transaction, and
 * reads them back. Throws if one row differs, so that nothing stays (P26). Returns the number of rows. Memory stays
 * flat.
 */
export async function copyTables(path: string, trx: Trx, onRows: (rows: number) => void): Promise<number> {
  const source = openDatabase(path);
  let rows = 0;
  try {
    source.pragma('query_only = ON');
    for (const table of inOrder(tablesOf(source))) {
      const there = createHash('sha256');
      for (const some of chunksOf(source, table)) {
        for (const row of some) addRow(there, table, row);
        await insert(trx, table, some);
        rows += some.length;
        onRows(rows);
      }
      const here = await digestOf(trx, table);
      if (here !== there.digest('hex')) throw new CopyDiffers(table.name);
      await setSequences(trx, table);
    }
  } finally {
    source.close();
  }
  return rows;
}

export class CopyDiffers extends Error {
  constructor(table: string) {
    super(`the table ${table} did not arrive unchanged; nothing of the copy was kept`);
  }
}

function tablesOf(source: Database.Database): Table[] {
  const names = source
    .prepare(
      `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'kysely_%' order by name`,
    )
    .pluck()
    .all();
  return names.map((row) => {
    const name = String(row);
    const infos = source.prepare('select name, pk from pragma_table_info(?) order by cid').all(name);
    const columns = infos.map((info) => ({ name: textOf(info, 'name'), pk: Number(textOf(info, 'pk')) }));
    const parents = source
      .prepare('select distinct "table" from pragma_foreign_key_list(?)')
      .pluck()
      .all(name);
    const keys = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
    // The rowid of a run is the order in which runs began; it is not a column in SQLite.
    const own = name === 'runs' ? ['rowid'] : [];
    return {
      name,
      columns: [...own, ...columns.map((column) => column.name)],
      order: own.length > 0 ? own : keys.map((key) => key.name),
      parents: parents.map(String).filter((parent) => parent !== name),
    };
  });
}

function textOf(row: unknown, key: string): string {
  return typeof row === 'object' && row !== null
    ? String(Object.entries(row).find(([k]) => k === key)?.[1])
    : '';
}

/** Sorts the tables: those that others refer to first, else by name, so that rows precede the month that closes them. */
function inOrder(tables: readonly Table[]): Table[] {
  const done = new Map<string, Table>();
  while (done.size < tables.length) {
    const next = tables.find(
      ({ name, parents }) => !done.has(name) && parents.every((parent) => done.has(parent)),
    );
    if (!next) throw new Error('the tables of the ledger refer to each other in a circle');
    done.set(next.name, next);
  }
  return [...done.values()];
}

function* chunksOf(source: Database.Database, { name, columns, order }: Table): Generator<Row[]> {
  const statement = source.prepare<[], Row>(
    `select ${columns.map(quoted).join(', ')} from ${quoted(name)} order by ${order.map(quoted).join(', ')}`,
  );
  let some: Row[] = [];
  for (const row of statement.iterate()) {
    some.push(row);
    if (some.length < chunk) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

const quoted = (name: string): string => `"${name}"`;

async function insert(trx: Trx, { name, columns }: Table, rows: readonly Row[]): Promise<void> {
  // All values go as text, and the column gives the type: a JSON number would lose digits.
  const text = JSON.stringify(
    rows.map((row) => Object.fromEntries(columns.map((c) => [c, textValue(row[c])]))),
  );
  const list = sql.join(columns.map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(name)} (${list})
    select ${list} from jsonb_populate_recordset(null::${sql.table(name)}, ${text}::jsonb)`.execute(trx);
}

function textValue(value: Value | undefined): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return value.toString();
  return typeof value === 'string' ? storable(value) : `\\x${Buffer.from(value).toString('hex')}`;
}

function addRow(hash: Hash, { columns }: Table, row: Row): void {
  hash.update(`${JSON.stringify(columns.map((column) => textValue(row[column])))}\n`);
}

async function digestOf(trx: Trx, table: Table): Promise<string> {
  const hash = createHash('sha256');
  const list = (names: string[]): RawBuilder<unknown> => sql.join(names.map((name) => sql.ref(name)));
  await sql`declare copied no scroll cursor for
    select ${list(table.columns)} from ${sql.table(table.name)} order by ${list(table.order)}`.execute(trx);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(chunk)} from copied`.execute(trx);
    for (const row of rows) addRow(hash, table, row);
    if (rows.length < chunk) break;
  }
  await sql`close copied`.execute(trx);
  return hash.digest('hex');
}

/** Sets each sequence to continue after the highest number in its table. */
async function setSequences(trx: Trx, { name }: Table): Promise<void> {
  const { rows } = await sql<{ column: string }>`select a.attname as column from pg_attribute a
    where a.attrelid = ${name}::regclass and a.attidentity <> '' and not a.attisdropped`.execute(trx);
  for (const { column } of rows)
    await sql`select setval(pg_get_serial_sequence(${name}, ${column}), greatest(1, max(${sql.ref(column)})),
      max(${sql.ref(column)}) is not null) from ${sql.table(name)}`.execute(trx);
}
