import { copyFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { record } from '../../src/core/ledger/record.ts';
import { backupLedger } from '../../src/custody/make-backup.ts';
import { moveLedger } from '../../src/custody/move.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { finishRestore, restoreLedger } from '../../src/custody/restore-ledger.ts';
import { assertNotHalfSwapped, copyBeside, finishSwap } from '../../src/custody/swap.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { adviceText } from '../../src/words/advice-text.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { wordedChecks } from '../../src/words/verify-words.ts';
import { addBatch, at, claimAt, makeLedger, states, type TestLedger } from '../support/ledger.ts';
import { worded } from './worded.ts';

let ledger: TestLedger;
let file: string;
beforeEach(async () => {
  ledger = await makeLedger();
  file = join(ledger.folder, 'backup.db');
  await addBatch(ledger, ['R-1', 'R-2']);
});
afterEach(() => ledger.remove());

const open = (path: string) => openLedger(path, { now: () => at(0) });

it('P25: a backup sends nothing, by whatever means it came into place, and can be read and proven', async () => {
  expect(await backupLedger(ledger, file, at(5))).toMatchObject({
    kind: 'made',
    holds: { batches: 1, payouts: 2 },
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const elsewhere = join(ledger.folder, 'by-cp.db');
  copyFileSync(file, elsewhere);
  const copy = await open(elsewhere);
  expect((await haltInWords(copy.db))?.cause).toContain(`backup made at ${at(5)}`);
  expect((await haltInWords(copy.db))?.cause).toContain('restore --adopt');
  expect(await claimAt(copy, at(1))).toEqual([]);
  expect(await states(copy)).toEqual({ 'R-1': 'ready', 'R-2': 'ready' });
  expect((await verifyLedger(elsewhere)).ok).toBe(true);
  await copy.close();
  expect(await claimAt(ledger, at(1)), 'the ledger itself goes on').toHaveLength(1);
});

const checkOf = async () =>
  wordedChecks((await verifyLedger(file)).checks).find(({ name }) => name === 'backup');

it('P27: a backup carries the digests of its batches, so that a change in it is seen', async () => {
  await backupLedger(ledger, file, at(5));
  const copy = await open(file);
  await copy.db.updateTable('meta').set({ value: 'x' }).where('key', 'like', 'backup_digest:%').execute();
  await copy.close();
  expect(await checkOf()).toMatchObject({
    ok: false,
    problems: [expect.stringMatching(/^b-1: digest/)],
  });
});

it('P27: a backup that was put to use is held to its digests as of then, however its histories grew', async () => {
  await backupLedger(ledger, file, at(5));
  const used = await open(file);
  const holds = ['R-1', 'R-2'].map((_, i) => ({
    payoutId: BigInt(i + 1),
    source: 'person',
    event: { kind: 'hold' as const, why: 'wait' },
  }));
  await used.write((trx) => record(trx, at(6), holds));
  await addBatch(used, ['R-3'], { id: 'b-2' });
  await used.close();
  expect((await verifyLedger(file)).checks.filter((check) => !check.ok)).toEqual([]);

  const { default: Database } = await import('better-sqlite3');
  const raw = new Database(file);
  raw.exec('drop trigger history_no_update; drop trigger history_no_delete');
  raw.exec('delete from history where payout_id = 2; delete from payouts where id = 2');
  raw.close();
  expect(await checkOf()).toMatchObject({ ok: false, problems: [expect.stringMatching(/^b-1: digest/)] });
  const again = new Database(file);
  again.exec('pragma foreign_keys = off; delete from history; delete from payouts; delete from batches');
  again.close();
  expect(await checkOf()).toMatchObject({ ok: false, problems: [expect.stringMatching(/^b-1: .* missing/)] });
});

it('P27: a batch that was still being taken in when the backup was made may be finished or dropped since', async () => {
  await addBatch(ledger, ['L-1'], { id: 'b-l', phase: 'loading', state: 'held' });
  await backupLedger(ledger, file, at(5));
  const { default: Database } = await import('better-sqlite3');
  const raw = new Database(file);
  raw.exec('pragma foreign_keys = off; drop trigger history_no_delete');
  raw.exec(`delete from history where payout_id = 3; delete from payouts where batch_id = 'b-l'`);
  raw.exec(`delete from batches where id = 'b-l'`);
  raw.close();
  expect((await checkOf())?.problems).toEqual([]);
});

it('P26: a sealed file is refused, and nothing was changed', async () => {
  await ledger.close();
  const to = join(ledger.folder, 'next.db');
  await moveLedger({ from: ledger.path, to, url: 'sqlite:next.db', now: () => at(5), say: adviceText });
  expect(worded(await restoreLedger(to, ledger.path, at(6)))).toEqual({
    kind: 'unfit',
    why: expect.stringMatching(/was sealed when its ledger moved to .*next.db.*; nothing was changed/),
  });
  const left = readdirSync(ledger.folder).filter((name) => /before-restore|incoming|restoring/.test(name));
  expect(left).toEqual([]);
  const still = await open(to);
  expect(await claimAt(still, at(7), 9)).toHaveLength(2);
  await still.close();
});

it('a backup never replaces a file, and leaves nothing beside it', async () => {
  writeFileSync(file, 'mine');
  expect(await backupLedger(ledger, file, at(5))).toEqual({ kind: 'exists' });
  await backupLedger(ledger, join(ledger.folder, 'second.db'), at(5));
  expect(readdirSync(ledger.folder).filter((name) => /partial|second/.test(name))).toEqual(['second.db']);
});

it('a backup made while others write is one moment', async () => {
  const names = Array.from({ length: 400 }, (_, i) => `N-${i}`);
  const [made] = await Promise.all([
    backupLedger(ledger, file, at(5)),
    ...names.map((name) => addBatch(ledger, [name], { id: name })),
  ]);
  expect(made.kind).toBe('made');
  expect((await verifyLedger(file)).ok).toBe(true);
});

it('a restore looks at the file before it touches anything', async () => {
  await ledger.close();
  const bad = join(ledger.folder, 'bad.db');
  writeFileSync(bad, 'a letter, not a ledger '.repeat(500));
  expect(worded(await restoreLedger(ledger.path, bad, at(5)))).toMatchObject({
    kind: 'unfit',
    why: expect.stringContaining('not a ledger'),
  });
  expect(await restoreLedger(ledger.path, `${bad}.gone`, at(5))).toMatchObject({ kind: 'unfit' });
  expect(readdirSync(ledger.folder).filter((name) => /incoming|before/.test(name))).toEqual([]);
  const still = await open(ledger.path);
  expect(await haltInWords(still.db)).toBeUndefined();
  await still.close();
});

it('P24: a restore refuses a ledger that names no mode', async () => {
  await backupLedger(ledger, file, at(5));
  const copy = await open(file);
  await copy.db.updateTable('meta').set({ value: 'tset' }).where('key', '=', 'mode').execute();
  await copy.close();
  await ledger.close();
  expect(worded(await restoreLedger(ledger.path, file, at(5)))).toMatchObject({
    kind: 'unfit',
    why: expect.stringContaining('it names no mode'),
  });
});

it('a restore refuses a ledger of a newer version', async () => {
  await backupLedger(ledger, file, at(5));
  const copy = await open(file);
  const { sql } = await import('kysely');
  await sql`insert into kysely_migration (name, timestamp) values ('0999-later', 'x')`.execute(copy.db);
  await copy.close();
  await ledger.close();
  expect(worded(await restoreLedger(ledger.path, file, at(5)))).toMatchObject({
    kind: 'unfit',
    why: expect.stringContaining('newer version'),
  });
});

it('P25: a restored copy, even one made by cp, sends nothing, and what it replaced lies beside it', async () => {
  await ledger.close();
  copyFileSync(ledger.path, file);
  const grown = await open(ledger.path);
  await addBatch(grown, ['R-3'], { id: 'b-2' });
  await grown.close();
  const restored = await restoreLedger(ledger.path, file, at(5));
  if (restored.kind !== 'restored') throw new Error(restored.why.kind);
  const now = await open(ledger.path);
  expect((await haltInWords(now.db))?.cause).toContain('was restored from');
  expect(Object.keys(await states(now))).toEqual(['R-1', 'R-2']);
  await now.close();
  const before = await open(restored.aside);
  expect(Object.keys(await states(before))).toEqual(['R-1', 'R-2', 'R-3']);
  expect((await haltInWords(before.db))?.cause, 'two must not both send').toContain('in its place');
  await before.close();
});

it('a restore takes the write-ahead log of its source along', async () => {
  copyFileSync(ledger.path, file);
  copyFileSync(`${ledger.path}-wal`, `${file}-wal`);
  await ledger.close();
  expect((await restoreLedger(ledger.path, file, at(5))).kind).toBe('restored');
  const now = await open(ledger.path);
  expect(Object.keys(await states(now))).toEqual(['R-1', 'R-2']);
  await now.close();
});

it('a restore that dies between two renames is refused by all others and finished by the next', async () => {
  await backupLedger(ledger, file, at(5));
  await addBatch(ledger, ['R-3'], { id: 'b-2' });
  await ledger.close();
  const { path } = ledger;
  const suffixes = ['-wal', '-shm', '.mark', ''];
  for (let moved = 0; moved <= suffixes.length; moved++) {
    const home = join(ledger.folder, `crash-${moved}`);
    const living = await open(join(home, 'living.db'));
    await addBatch(living, ['OLD'], { id: 'b-old' });
    const own = { path: join(home, 'ledger.db') };
    // What kill -9 leaves: everything of the old ledger is still in its write-ahead log.
    for (const suffix of ['', '-wal', '.mark']) copyFileSync(living.path + suffix, own.path + suffix);
    await living.close();
    copyBeside(file, own.path);
    writeFileSync(`${own.path}.restoring`, 'STAMP');
    const { renameSync } = await import('node:fs');
    for (const suffix of suffixes.slice(0, moved)) {
      if (existsSync(own.path + suffix))
        renameSync(own.path + suffix, `${own.path}.before-restore-STAMP${suffix}`);
    }
    await expect(open(own.path)).rejects.toThrow(/restore of this ledger was interrupted/);
    expect(finishSwap(own.path)).toBe(`${own.path}.before-restore-STAMP`);
    await expect(open(own.path), 'what it replaced may send').rejects.toThrow(/was interrupted/);
    expect(await finishRestore(own.path, at(6))).toBe(`${own.path}.before-restore-STAMP`);
    assertNotHalfSwapped(own.path);
    const now = await open(own.path);
    expect(Object.keys(await states(now)), `after ${moved} renames`).toEqual(['R-1', 'R-2']);
    expect(await haltInWords(now.db)).toBeDefined();
    await now.close();
    const before = await open(`${own.path}.before-restore-STAMP`);
    expect(Object.keys(await states(before))).toEqual(['OLD']);
    expect((await haltInWords(before.db))?.cause).toContain('in its place');
    await before.close();
    writeFileSync(`${own.path}.restoring`, 'STAMP');
    await finishRestore(own.path, at(7));
    const again = await open(own.path);
    expect(Object.keys(await states(again)), 'the last step twice').toEqual(['R-1', 'R-2']);
    await again.close();
  }
  expect(existsSync(path)).toBe(true);
});
