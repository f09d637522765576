import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, it } from 'vitest';
import { up } from '../../../src/core/storage/migrations/0001-initial.ts';

it('compares a column with each allowed word, since SQLite builds a table of a list for every row that it checks', async () => {
  const database = new Database(':memory:');
  await up(new Kysely({ dialect: new SqliteDialect({ database }) }));
  const tables = database
    .prepare("select sql from sqlite_master where type = 'table'")
    .pluck()
    .all()
    .join('\n');
  expect(tables.match(/check \(\w+ in \(/g)).toBeNull();
  expect(tables).toContain(
    "check (state = 'open' or state = 'passed' or state = 'failed' or state = 'released')",
  );
  const halt = database.prepare("insert into halts (at, kind, detail) values ('', ?, '')");
  halt.run('account');
  halt.run('canary_failed');
  expect(() => halt.run('nonsense')).toThrow('CHECK constraint failed');
  database
    .prepare("insert into runs (id, started_at, history_mark, verdict) values ('r', '', 0, null)")
    .run();
  database.close();
});
