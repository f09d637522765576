import { closeSync, openSync, readdirSync, readlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Kysely } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { quickCheck } from '../../../src/core/storage/health.ts';
import { LedgerDialect, openDatabase } from '../../../src/core/storage/sqlite.ts';
import type { Tables } from '../../../src/core/storage/tables/tables.ts';
import { addBatch, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
  await addBatch(ledger, ['R-1', 'R-2']);
});
afterEach(() => ledger.remove());

it('doctor reads a small file whole, and of a large one both ends of each table', async () => {
  expect(await quickCheck(ledger.db)).toEqual({ damage: [], read: 'whole' });
  expect(await quickCheck(ledger.db, 0)).toEqual({ damage: [], read: 'ends' });
});

it('doctor finds a damaged end of a table in a file that is too large to read whole', async () => {
  const copy = join(ledger.folder, 'copy.db');
  const source = new Database(ledger.path);
  source.prepare('vacuum into ?').run(copy);
  source.close();
  const made = new Database(copy);
  const root = made.prepare("select rootpage from sqlite_master where name = 'history'").pluck().get();
  made.close();
  const file = openSync(copy, 'r+');
  writeSync(file, Buffer.alloc(4096, 0x5a), 0, 4096, (Number(root) - 1) * 4096);
  closeSync(file);
  const db = new Kysely<Tables>({ dialect: new LedgerDialect(openDatabase(copy)) });
  const { damage } = await quickCheck(db, 0);
  await db.destroy();
  expect(damage).toEqual([expect.stringMatching(/^history: /)]);
});

it('closes a file that is no database at once, so that many of them need no memory', () => {
  const path = join(ledger.folder, 'other.db');
  writeFileSync(path, 'no database '.repeat(1000));
  for (let tries = 0; tries < 5; tries++) expect(() => openDatabase(path)).toThrow('not a database');
  const open = readdirSync('/proc/self/fd').filter((fd) => linkOf(fd) === path);
  expect(open).toEqual([]);
});

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
