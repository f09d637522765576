import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { beginFileCheck } from '../../src/custody/file-check.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { tamper } from '../support/intruder.ts';
import { addBatch, makeLedger, type TestLedger } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { problemTexts } from './worded.ts';

const nothing = (): void => undefined;

async function threePayouts(): Promise<TestLedger> {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  return ledger;
}

it.skipIf(onPostgres)('P27: a thread finds in a file what is found without one', async () => {
  const ledger = await threePayouts();
  await tamper(
    ledger,
    `insert into attempts (payout_id, number, worker_id, began_at, day_id) values (77, 1, 'w', 'x', 9)`,
  );
  emptyIndex(ledger.path, 'payouts_state');
  const alone = await verifyLedger(ledger.path);
  const failed = alone.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  expect(failed).toEqual(expect.arrayContaining(['integrity', 'foreign_keys']));
  expect(problemTexts(alone).join('\n')).toMatch(/payouts_state[\s\S]*history_no_delete/);
  expect(await verifyLedger(ledger.path, nothing, { asideFrom: 0 })).toEqual(alone);
});

it.skipIf(onPostgres)('P27: proves a file with a thread while others write', async () => {
  const ledger = await threePayouts();
  const references = Array.from({ length: 300 }, (_, i) => `N-${i}`);
  const writing = addBatch(ledger, references, { id: 'b-2' });
  const [verdict] = await Promise.all([verifyLedger(ledger.path, nothing, { asideFrom: 0 }), writing]);
  expect(verdict.checks.filter(({ ok }) => !ok)).toEqual([]);
  expect(verdict.ok).toBe(true);
});

it.each([0, 1e9])(
  'says of a file that is no ledger what SQLite says (a thread from %i bytes)',
  async (asideFrom) => {
    const path = join(temporaryFolder(), 'ledger.db');
    writeFileSync(path, 'not a database, but long enough to be read as one: '.repeat(100));
    const { found } = beginFileCheck({ path, unchanged: false }, { asideFrom });
    await expect(found).rejects.toMatchObject({ name: 'SqliteError', code: 'SQLITE_NOTADB' });
  },
);

/** Empties an index as damage would, which only a check of the whole file sees, and drops a trigger. */
function emptyIndex(path: string, index: string): void {
  const define = (change: string): void => {
    const raw = new Database(path);
    raw.unsafeMode();
    raw.pragma('writable_schema = ON');
    raw.prepare(`update sqlite_master set sql = ${change} where name = ?`).run(index);
    raw.close();
  };
  define(`sql || ' where id < 0'`);
  const raw = new Database(path);
  raw.exec(`reindex ${index}; drop trigger history_no_delete`);
  raw.close();
  define(`replace(sql, ' where id < 0', '')`);
}
