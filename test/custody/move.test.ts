import { copyFileSync, existsSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { moveLedger } from '../../src/custody/move.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { adviceText } from '../../src/words/advice-text.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { addBatch, at, claimAt, makeLedger, states, type TestLedger } from '../support/ledger.ts';
import { worded } from './worded.ts';

let ledger: TestLedger;
let to: string;
beforeEach(async () => {
  ledger = await makeLedger();
  to = join(ledger.folder, 'next.db');
  await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  await claimAt(ledger, at(1));
  await ledger.close();
});
afterEach(() => ledger.remove());

const open = (path: string) => openLedger(path, { now: () => at(9000) });
const move = (target = to) =>
  moveLedger({ from: ledger.path, to: target, url: 'sqlite:next.db', now: () => at(5000), say: adviceText });

/** How many payouts each of the two files would let out, as `source target`. */
async function whoSends(): Promise<string> {
  const count = async (path: string): Promise<string> => {
    if (!existsSync(path)) return '-';
    const one = await open(path);
    const claims = await claimAt(one, at(9000), 9).catch(() => []);
    await one.close();
    return String(claims.length);
  };
  return `${await count(ledger.path)} ${await count(to)}`;
}

it('P26: a moved ledger sends from its new place only; the old one is sealed for ever and can be read', async () => {
  expect(await move()).toMatchObject({ kind: 'moved', abandoned: 1, before: false });
  const old = await open(ledger.path);
  expect((await haltInWords(old.db))?.cause).toContain('sqlite:next.db');
  await expect(old.write(async () => 1)).rejects.toThrow(/was moved to sqlite:next.db/);
  await expect(old.db.deleteFrom('halts').execute()).rejects.toMatchObject({ code: 'SQLITE_READONLY' });
  expect(await states(old)).toEqual({ 'R-1': 'unknown', 'R-2': 'ready', 'R-3': 'ready' });
  expect((await verifyLedger(ledger.path)).checks.filter((c) => !c.ok)).toEqual([]);
  await old.close();
  const now = await open(to);
  expect([now.id, await states(now)]).toEqual([
    ledger.id,
    { 'R-1': 'unknown', 'R-2': 'ready', 'R-3': 'ready' },
  ]);
  await now.close();
  expect((await verifyLedger(to)).checks.filter((c) => !c.ok)).toEqual([]);
  expect(await whoSends()).toBe('0 2');
});

it('P26: moving again finds it moved; it never moves over another file, nor to two places', async () => {
  await move();
  expect(await move()).toMatchObject({ kind: 'moved', before: true });
  expect(worded(await move(join(ledger.folder, 'third.db')))).toMatchObject({
    kind: 'refused',
    why: expect.stringContaining('moved already'),
  });
  expect(existsSync(join(ledger.folder, 'third.db'))).toBe(false);
});

it('P26: a target that is there before is left alone, and the source is not sealed', async () => {
  const other = await open(to);
  await other.close();
  expect(worded(await move())).toMatchObject({
    kind: 'refused',
    why: expect.stringContaining('already exists'),
  });
  expect(await whoSends()).toBe('2 0');
});

it('P26: a target that does not hold what the source held never sends, and says what to do', async () => {
  const seed = join(ledger.folder, 'seed.db');
  copyFileSync(ledger.path, seed);
  await move();
  // What a crash before the comparison leaves, with a copy that went wrong.
  const sealed = await openLedger(ledger.path, { now: () => at(0), alone: 'owner' });
  await sealed.db.deleteFrom('meta').where('key', '=', 'sealed_handed_over').execute();
  await sealed.close();
  for (const suffix of ['-wal', '-shm', '.mark']) rmSync(to + suffix, { force: true });
  copyFileSync(ledger.path, to);
  const wrong = await openLedger(to, { now: () => at(0), alone: 'copy' });
  await wrong.db.updateTable('payouts').set({ amount: 1n }).where('reference', '=', 'R-3').execute();
  await wrong.close();
  expect(worded(await move())).toMatchObject({
    kind: 'refused',
    why: expect.stringContaining('neither sends'),
  });
  expect(await whoSends()).toBe('0 0');
  rmSync(to);
  expect(await move()).toMatchObject({ kind: 'moved', before: false });
  expect(await whoSends()).toBe('0 2');
});

it('P26: whatever step it dies at, at most one can send, and moving again finishes', async () => {
  const { sealKeys: keys } = await import('../../src/custody/seal.ts');
  const meta = async (path: string, gone: string[]): Promise<void> => {
    const one = await openLedger(path, { now: () => at(0), alone: 'copy' });
    await one.db.deleteFrom('meta').where('key', 'in', gone).execute();
    await one.close();
  };
  await move();
  const sealedCopy = join(ledger.folder, 'sealed.db');
  await meta(ledger.path, [keys.handed]);
  copyFileSync(ledger.path, sealedCopy);
  const forget = (): void => {
    for (const suffix of ['', '-wal', '-shm', '.mark']) rmSync(to + suffix, { force: true });
  };

  forget();
  expect(await whoSends(), 'died after the seal').toBe('0 -');
  expect(await move()).toMatchObject({ kind: 'moved' });

  await meta(ledger.path, [keys.handed]);
  forget();
  copyFileSync(sealedCopy, to);
  expect(await whoSends(), 'died after the copy').toBe('0 0');
  expect(await move()).toMatchObject({ kind: 'moved', before: false });

  forget();
  expect(worded(await move()), 'the target was lost after it could send').toMatchObject({
    kind: 'refused',
    why: expect.stringContaining('restore a backup'),
  });
  expect(await whoSends()).toBe('0 -');
  copyFileSync(sealedCopy, to);
  expect(await whoSends(), 'died before the target opened').toBe('0 0');
  expect(await move()).toMatchObject({ kind: 'moved', before: false });
  expect(await whoSends()).toBe('0 2');
});

it('P25: a ledger that went back in time takes its barrier along', async () => {
  rmSync(`${ledger.path}.mark`);
  expect(await move()).toMatchObject({ kind: 'moved' });
  expect(await whoSends()).toBe('0 0');
  const now = await open(to);
  expect((await haltInWords(now.db))?.cause).toContain('restore --adopt');
  await now.close();
});

it('P26: a copy from just before a move that died once the target had opened sends nothing beside it', async () => {
  const before = join(ledger.folder, 'before.db');
  await ledger.close();
  copyFileSync(ledger.path, before);
  // A folder in the way of the target's mark: it dies right after the target opened.
  mkdirSync(`${to}.mark.new`);
  await expect(move()).rejects.toThrow();
  rmdirSync(`${to}.mark.new`);
  for (const suffix of ['-wal', '-shm']) rmSync(ledger.path + suffix, { force: true });
  copyFileSync(before, ledger.path);
  expect(await whoSends()).toBe('0 2');
});

it('P25: a file from before the move that is put back in the old place sends nothing beside the moved ledger', async () => {
  const before = join(ledger.folder, 'before.db');
  copyFileSync(ledger.path, before);
  await move();
  for (const suffix of ['-wal', '-shm']) rmSync(ledger.path + suffix, { force: true });
  copyFileSync(before, ledger.path);
  expect(await whoSends()).toBe('0 2');
  const back = await open(ledger.path);
  expect((await haltInWords(back.db))?.cause).toMatch(
    /was moved permanently to another place: set ledger.url/,
  );
  await back.close();
});

it('P25: the sealed file copied over the moved ledger sends nothing, though moving again opens it', async () => {
  await move();
  const now = await open(to);
  expect(await claimAt(now, at(9000), 9)).toHaveLength(2);
  await now.close();
  for (const suffix of ['-wal', '-shm']) rmSync(to + suffix, { force: true });
  copyFileSync(ledger.path, to);
  expect(await move()).toMatchObject({ kind: 'moved', before: false });
  expect(await whoSends()).toBe('0 0');
  const fallen = await open(to);
  expect((await haltInWords(fallen.db))?.cause).toMatch(/went back in time.*restore --adopt/);
  await fallen.close();
});

it('P26: a mark that an older ledger left where this one moves to does not stop it, also after a crash', async () => {
  writeFileSync(`${to}.mark`, 'moved 0 \n');
  // A folder in the way of the copy's write-ahead log: it dies after the copy, before the target opens.
  mkdirSync(`${to}-wal`);
  await expect(move()).rejects.toThrow();
  expect([existsSync(to), existsSync(`${to}.mark`)]).toEqual([true, false]);
  rmdirSync(`${to}-wal`);
  expect(await move()).toMatchObject({ kind: 'moved', before: false });
  expect(await whoSends()).toBe('0 2');
});
