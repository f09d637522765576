import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { onTestFinished } from 'vitest';
import { upgradeAlone } from '../../src/ledger/custody/upgrade.ts';
import { LedgerDialect, openDatabase } from '../../src/ledger/database/sqlite.ts';
import { up as initial } from '../../src/ledger/migrations/0001-initial.ts';
import { up as decisions } from '../../src/ledger/migrations/0002-decisions.ts';
import { up as absence } from '../../src/ledger/migrations/0003-absence.ts';
import { type Ledger, openLedger } from '../../src/ledger/open.ts';

/** A ledger file of the first three migrations, filled by these statements; it goes when the test is over. */
export async function olderLedger(statements: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-older-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'ledger.db');
  await olderLedgerAt(path, statements);
  return path;
}

/** The same at a place of choice, whose folder is there. */
export async function olderLedgerAt(path: string, statements: readonly string[]): Promise<void> {
  const db = new Kysely<unknown>({ dialect: new LedgerDialect(openDatabase(path)) });
  const migrations = {
    '0001-initial': { up: initial },
    '0002-decisions': { up: decisions },
    '0003-absence': { up: absence },
  };
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
  }).migrateToLatest();
  if (error) throw error;
  for (const statement of statements) await sql.raw(statement).execute(db);
  await db.destroy();
}

/** Opens a ledger of an earlier version as a process that sends does: after the upgrade. */
export async function openUpgraded(path: string, now: () => string): Promise<Ledger> {
  const done = await upgradeAlone({ kind: 'sqlite', path }, { mode: 'test', now });
  if (done.kind !== 'upgraded') throw new Error(`${path} was not of an earlier version`);
  return openLedger(path, { now });
}
