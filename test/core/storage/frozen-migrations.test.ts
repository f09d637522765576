import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, it } from 'vitest';
import { migrations } from '../../../src/core/storage/known-migrations.ts';
import { keptLedgers } from '../../fixtures/ledgers/kept.ts';
import { migrationDigests } from '../../support/migration-digests.ts';

const folder = fileURLToPath(new URL('../../../src/core/storage/migrations', import.meta.url));

it('a migration of which a ledger is kept is never edited (its ledgers would lack the change, and new ones have it)', async () => {
  const digests = await migrationDigests();
  for (const { name, facts } of keptLedgers())
    for (const [migration, digest] of Object.entries(facts.migrations))
      expect(
        digests[migration],
        `${migration} makes other tables than those of test/fixtures/ledgers/${name}.db.gz. Undo that, and add a new migration (docs/contributing.md, "add a column")`,
      ).toEqual(digest);
});

it('a migration imports only files of its own number, since other code goes on changing', () => {
  for (const file of readdirSync(folder)) {
    const text = readFileSync(`${folder}/${file}`, 'utf8');
    const sources = [...text.matchAll(/from '([^']+)'/g)].map(([, source]) => source);
    const strange = sources.filter(
      (source) => source !== 'kysely' && !source?.startsWith(`./${file.slice(0, 5)}`),
    );
    expect(strange, `${file} imports what may change: copy that into it`).toEqual([]);
  }
});

/** The tables that are read from an archive; `show`, the reports of a run and `verify` do. */
const readFromArchives =
  `approvals attempts batches canaries discrepancies discrepancy_events history inquiries listed
  meta payouts period_rows periods run_rows run_verdicts runs waived_listings webhooks`.split(/\s+/);

it('an archive keeps the tables of its time: what is read from one never gets another name', async () => {
  const newest = new Database(':memory:');
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: newest }) });
  for (const load of Object.values(migrations)) await (await load()).up(db);
  const columnsOf = (database: Database.Database, table: string): unknown[] =>
    database.prepare('select name from pragma_table_info(?)').pluck().all(table);
  for (const { name, file } of keptLedgers()) {
    const bytes = file();
    // A file in memory has no log of its own: bytes 18 and 19 of its header must not ask for one.
    bytes.fill(1, 18, 20);
    const older = new Database(bytes);
    for (const table of readFromArchives) {
      const before = columnsOf(older, table);
      expect(before.length, `${table} in ${name}`).toBeGreaterThan(0);
      expect(columnsOf(newest, table), `${table} of the archives of ${name}`).toEqual(
        expect.arrayContaining(before),
      );
    }
    older.close();
  }
  newest.close();
});
