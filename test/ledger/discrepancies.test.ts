import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FoundFields, finding } from '../../src/domain/discrepancy.ts';
import { LedgerDialect, openDatabase } from '../../src/ledger/database/sqlite.ts';
import { countOpen, listOpen, seen } from '../../src/ledger/discrepancies/discrepancies.ts';
import { decide } from '../../src/ledger/discrepancies/discrepancy-decisions.ts';
import { livesOf } from '../../src/ledger/discrepancies/discrepancy-events.ts';
import { up as initial } from '../../src/ledger/migrations/0001-initial.ts';
import { up as decisions } from '../../src/ledger/migrations/0002-decisions.ts';
import { up as absence } from '../../src/ledger/migrations/0003-absence.ts';
import { at, makeLedger, type TestLedger } from '../support/ledger.ts';
import { openUpgraded } from '../support/older-ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const fields: FoundFields = {
  payoutId: null,
  batchId: 'b-1',
  reference: 'R-1',
  trx: null,
  transferId: null,
  currency: 'NGN',
  expected: '10.00',
  actual: '9.00',
  difference: '-1.00',
  moved: true,
  evidence: 'listed',
};
const by = (run: string, ms: number, mode: 'test' | 'live' = 'test') => ({ run, mode, at: at(ms) });
const found = (n: number) => finding('amount_conflict', `R-${n}`, { ...fields, reference: `R-${n}` });

it('P24: the same thing in the other mode is another discrepancy', async () => {
  await ledger.write((trx) => seen(trx, by('1', 1), [found(1)]));
  await ledger.write((trx) => seen(trx, by('2', 2, 'live'), [found(1)]));
  expect([await countOpen(ledger.db, 'test'), await countOpen(ledger.db, 'live')]).toEqual([
    { amount_conflict: 1 },
    { amount_conflict: 1 },
  ]);
  const word = { verdict: 'resolve' as const, note: 'x', person: 'ada', at: at(3) };
  expect(await ledger.write((trx) => decide(trx, { mode: 'test' }, word))).toBe(1);
  expect(await countOpen(ledger.db, 'live')).toEqual({ amount_conflict: 1 });
});

it('many are found, found again and decided about in one go, each with its own life', async () => {
  const all = Array.from({ length: 1201 }, (_, n) => found(n));
  expect(await ledger.write((trx) => seen(trx, by('1', 1), [...all, found(7)]))).toBe(1201);
  expect(await ledger.write((trx) => seen(trx, by('2', 2), all))).toBe(0);
  const word = { verdict: 'acknowledge' as const, note: 'known', person: 'ada', at: at(3) };
  const filter = { mode: 'test' as const, kind: 'amount_conflict' };
  expect(await ledger.write((trx) => decide(trx, filter, word))).toBe(1201);
  const ids = (await listOpen(ledger.db, filter)).map(({ id }) => id);
  const lives = await livesOf(ledger.db, ids);
  expect(lives.size).toBe(1201);
  expect(
    [...lives.values()].every((life) => life.map(({ event }) => event).join() === 'opened,acknowledged'),
  ).toBe(true);
});

it('a life is append-only', async () => {
  await ledger.write((trx) => seen(trx, by('1', 1), [found(1)]));
  const change = ledger.db.updateTable('discrepancy_events').set({ note: 'never was' }).execute();
  await expect(change).rejects.toThrow('append-only');
  await expect(ledger.db.deleteFrom('discrepancy_events').execute()).rejects.toThrow('append-only');
});

it.skipIf(onPostgres)(
  'an older ledger opens, and what it knew of discrepancies has a life and an end',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'counterfoil-test-'));
    const path = join(folder, 'ledger.db');
    const old = new Kysely<unknown>({ dialect: new LedgerDialect(openDatabase(path)) });
    const migrations = {
      '0001-initial': { up: initial },
      '0002-decisions': { up: decisions },
      '0003-absence': { up: absence },
    };
    const migrator = new Migrator({ db: old, provider: { getMigrations: async () => migrations } });
    expect((await migrator.migrateToLatest()).error).toBeUndefined();
    const raw = openDatabase(path);
    const insert = (id: string, state: string, note: string, resolved: string | null) =>
      raw
        .prepare(
          `insert into discrepancies values (?, 'test', 'amount_conflict', ?, null, null, ?, null, null, 'NGN',
          '10.00', '9.00', '-1.00', 'high', 'listed', 'ask', ?, ?, ?, ?, '1', ?)`,
        )
        .run(id, id, id, state, note, at(1), at(2), resolved);
    insert('D-1', 'open', '', null);
    insert('D-2', 'resolved', 'closed by evidence of run 1; ledger: success by listing', at(3));
    insert('D-3', 'resolved', 'the bank sent it back', at(4));
    raw.close();
    await old.destroy();
    const opened = await openUpgraded(path, () => at(9));
    const rows = await opened.db
      .selectFrom('discrepancies')
      .select(['id', 'resolved_by', 'reopened'])
      .orderBy('id')
      .execute();
    expect(rows.map(({ id, resolved_by, reopened }) => [id, resolved_by, reopened])).toEqual([
      ['D-1', null, 0n],
      ['D-2', 'evidence', 0n],
      ['D-3', 'person', 0n],
    ]);
    const lives = await livesOf(opened.db, ['D-1', 'D-2', 'D-3']);
    expect([...lives.values()].map((life) => life.map(({ event }) => event).join())).toEqual([
      'opened',
      'opened,closed',
      'opened,resolved',
    ]);
    await opened.close();
    rmSync(folder, { recursive: true, force: true });
  },
);
