import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { runRows } from '../../src/books/run-sheets.sql.ts';
import { knownMigrations, migrations } from '../../src/core/storage/known-migrations.ts';
import { type Place, type PostgresPlace, placeOf } from '../../src/core/storage/place.ts';
import { LedgerNewer, LedgerOlder } from '../../src/core/storage/schema-version.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { upgradeLedger } from '../../src/custody/upgrade-ledger.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { findHalt } from '../../src/sending/halts.sql.ts';
import { type KeptLedger, keptLedgers, type LedgerFacts, nameOfKept } from '../fixtures/ledgers/kept.ts';
import { claimAt } from '../support/ledger.ts';
import { addNextMigration } from '../support/next-migration.ts';
import { startNextVersion } from '../support/older-ledger.ts';
import { copyOlderLedger } from '../support/older-postgres.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-older-'));
  path = join(folder, 'ledger.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const now = (): string => '2027-01-04T08:00:00.000Z';
const options = { mode: 'test' as const, now };

/** The kept ledger: a file, or the same tables and rows on PostgreSQL. */
async function unpack({ facts, file }: KeptLedger): Promise<Place> {
  writeFileSync(path, file(), { mode: 0o600 });
  if (!onPostgres) return placeOf(path);
  const place = newSchema();
  await copyOlderLedger(path, place, Object.keys(facts.migrations), now);
  return place;
}

let schemas = 0;
function newSchema(): PostgresPlace {
  const name = `older_${process.pid}_${++schemas}`;
  const url = `${inject('ledgerServer')}?schema=${name}`;
  return { kind: 'postgres', path: join(folder, name), url };
}

async function expectSaysTheSame(place: Place, facts: LedgerFacts): Promise<void> {
  const { ok, batches } = await verifyLedger(place);
  expect(ok).toBe(true);
  expect(batches.map(({ batch, digest }) => [batch, digest])).toEqual(facts.digests);
  const ledger = await openLedger(place, options);
  const states = await ledger.db
    .selectFrom('payouts')
    .select(['state', (on) => on.fn.countAll<bigint>().as('n')])
    .groupBy('state')
    .orderBy('state')
    .execute();
  expect(states.map(({ state, n }) => ({ state, n: Number(n) }))).toEqual(facts.states);
  const statement: string[][] = [];
  for await (const page of runRows(ledger.db, facts.run, 'statement'))
    statement.push(...page.map((cells) => JSON.parse(cells)));
  expect(statement).toEqual(facts.statement);
  await ledger.close();
}

const schemaInFile = sql<{ text: string }>`
  select sql as text from sqlite_master where sql is not null and name not like 'kysely_%'`;
const schemaInPostgres = sql<{ text: string }>`
  select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, collation_name) as text
    from information_schema.columns where table_schema = current_schema()
  union all select indexdef from pg_indexes where schemaname = current_schema()
  union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
    where connamespace = current_schema()::regnamespace
  union all select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and c.relnamespace = current_schema()::regnamespace
  union all select pg_get_functiondef(oid) from pg_proc where pronamespace = current_schema()::regnamespace`;

/** The definitions of all tables, indexes and triggers, in one order and with one kind of space. */
async function schemaOf(place: Place): Promise<string[]> {
  const { db, close } = await openLedger(place, options);
  const { rows } = await (onPostgres ? schemaInPostgres : schemaInFile).execute(db);
  await close();
  return rows
    .map(({ text }) => text.replaceAll(/\s+/g, ' ').replaceAll(/\bolder_\d+_\d+\b/g, 'own'))
    .toSorted();
}

describe.each(keptLedgers())('the kept ledger $name', (kept) => {
  it('is brought to this version, proven, and says what it said', async () => {
    const place = await unpack(kept);
    const upgraded = await upgradeLedger(place, options);
    expect(['current', 'upgraded']).toContain(upgraded.kind);
    await expectSaysTheSame(place, kept.facts);
  });

  it('is brought to the next version, which rebuilds its history, and says what it said', async () => {
    const place = await unpack(kept);
    startNextVersion();
    await expect(openLedger(place, options)).rejects.toThrow(LedgerOlder);
    const upgraded = await upgradeLedger(place, options);
    const backup = onPostgres ? null : expect.stringContaining('before-upgrade-');
    expect(upgraded).toEqual({ kind: 'upgraded', backup });
    await expectSaysTheSame(place, kept.facts);
  });

  it('has the schema of a new ledger after the upgrade', async () => {
    const place = await unpack(kept);
    startNextVersion();
    await upgradeLedger(place, options);
    const fresh = onPostgres ? newSchema() : placeOf(join(folder, 'fresh.db'));
    await (await openLedger(fresh, options)).close();
    const schema = await schemaOf(place);
    expect(schema).toEqual(await schemaOf(fresh));
    expect(schema.length).toBeGreaterThan(100);
  });

  it('is refused by this version once the next one has upgraded it', async () => {
    const place = await unpack(kept);
    const next = addNextMigration();
    await upgradeLedger(place, options).finally(() => void delete migrations[next]);
    await expect(openLedger(place, options)).rejects.toThrow(LedgerNewer);
    await expect(upgradeLedger(place, options)).rejects.toThrow(LedgerNewer);
  });

  // On PostgreSQL each machine has a mark of its own: one that never had a mark misses none.
  it.skipIf(onPostgres)('P25: sends nothing, since no mark of it is here', async () => {
    const place = await unpack(kept);
    await upgradeLedger(place, options);
    const ledger = await openLedger(place, options);
    expect(await findHalt(ledger.db)).toBeDefined();
    expect(await claimAt(ledger, now())).toEqual([]);
    await ledger.close();
  });
});

it('has a ledger of this version and its newest migration (npm run fixture:ledger)', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const names = keptLedgers().map(({ name }) => name);
  expect(names).toContain(nameOfKept(knownMigrations(), version));
});
