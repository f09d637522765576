import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { payoutOverview, payoutStory } from '../../src/books/overview.sql.ts';
import { withPlace } from '../../src/core/storage/sqlite.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { fail } from '../../src/faces/terminal/context/result.ts';
import { addBatch, at, claimAt, makeLedger, recordOutcome, replies } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it.skipIf(onPostgres)(
  'a ledger keeps its identity and birth when it is opened again, and is readable by its owner alone',
  async () => {
    const ledger = await makeLedger();
    const again = await openLedger(ledger.path, { now: () => at(9) });
    expect([again.id, again.birth]).toEqual([ledger.id, at(0)]);
    expect(statSync(ledger.path).mode & 0o777).toBe(0o600);
    await again.close();
    await ledger.remove();
  },
);

it.skipIf(onPostgres)(
  'a ledger that SQLite may not open, or not write beside, is named (a message that named no folder)',
  async () => {
    const folder = temporaryFolder();
    await expect(openLedger(folder, { now: () => at(0) })).rejects.toMatchObject({
      code: 'SQLITE_CANTOPEN',
      message: expect.stringContaining(folder),
    });
    // Whoever runs the tests as root may write everywhere: this is what SQLite says to all others.
    const said = new Database.SqliteError(
      'attempt to write a readonly database',
      'SQLITE_READONLY_DIRECTORY',
    );
    expect(fail(withPlace(said, join(folder, 'ledger.db')))).toMatchObject({
      code: 1,
      problem: expect.stringContaining(`may not write in the folder ${folder})`),
    });
  },
);

it('P12: a unit of work that throws leaves nothing behind', async () => {
  const ledger = await makeLedger();
  const failing = ledger.write(async (trx) => {
    await trx.insertInto('meta').values({ key: 'k', value: 'v' }).execute();
    throw new Error('stop');
  });
  await expect(failing).rejects.toThrow('stop');
  const meta = ledger.db.selectFrom('meta').selectAll().where('key', '=', 'k');
  expect(await meta.execute()).toEqual([]);
  await ledger.remove();
});

it('an overview sums exactly, and a story tells everything of one payout', async () => {
  const ledger = await makeLedger();
  await addBatch(ledger, ['R-1', 'R-2'], { amount: 10n });
  const [one] = await claimAt(ledger, at(0));
  if (one) await recordOutcome(ledger, at(1), one, replies.unknown());
  expect(await payoutOverview(ledger.db)).toEqual({
    payouts: { unknown: 1, ready: 1 },
    totals: { NGN: { unknown: '0.10', ready: '0.10' } },
  });
  const story = await payoutStory(ledger, 'r-1');
  expect(story?.history.map((row) => row.event)).toEqual(['intake', 'intent', 'unknown']);
  expect([story?.attempts.length, story?.lookups.length]).toEqual([1, 1]);
  expect(await payoutStory(ledger, 'R-9')).toBeUndefined();
  await ledger.remove();
});

it.skipIf(onPostgres)(
  'P12: a transaction that a full ledger ended fails with that, not with its rollback',
  async () => {
    const ledger = await makeLedger();
    await ledger.close();
    const raw = new Database(ledger.path);
    const pages = Number(raw.pragma('page_count', { simple: true }));
    raw.close();
    const full = await openLedger(ledger.path, { now: () => at(0), maxPageCount: pages + 2 });
    const grow = full.write(async (trx) => {
      for (let n = 0n; ; n++)
        await trx
          .insertInto('tallies')
          .values({ name: `${n} ${'x'.repeat(2000)}`, n })
          .execute();
    });
    await expect(grow).rejects.toMatchObject({
      code: 'SQLITE_FULL',
      message: expect.not.stringMatching(/rollback/),
    });
    const also = full.write(async (trx) => {
      // As SQLite does by itself after some errors of the disk.
      await sql`rollback`.execute(trx);
      throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
    });
    await expect(also).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    await full.write((trx) => trx.insertInto('tallies').values({ name: 'small', n: 1n }).execute());
    await full.close();
    await ledger.remove();
  },
);
