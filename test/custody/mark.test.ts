import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { setMeta } from '../../src/core/ledger/meta.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { enterGate, shutGate } from '../../src/custody/custody-gate.ts';
import { copyConsistently } from '../../src/custody/make-backup.ts';
import { readMark } from '../../src/custody/mark.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { fail } from '../../src/faces/terminal/context/result.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { addBatch, at, claimAt, makeLedger, type TestLedger } from '../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const history = (): bigint => {
  const found = readMark(ledger.path);
  return found.kind === 'mark' ? found.mark.history : -1n;
};

/** Opens the file as another process would, and says why nothing may be sent. */
async function causeOf(path = ledger.path): Promise<string | undefined> {
  const again = await openLedger(path, { now: () => at(0) });
  const halt = await haltInWords(again.db);
  await again.close();
  return halt?.cause;
}

/** Puts an older copy in the ledger's place, as someone with `cp` would. */
async function goBack(copy: string): Promise<void> {
  await ledger.close();
  for (const suffix of ['-wal', '-shm']) rmSync(ledger.path + suffix, { force: true });
  copyFileSync(copy, ledger.path);
}

async function copyNow(): Promise<string> {
  await ledger.close();
  const copy = join(ledger.folder, 'copy.db');
  copyFileSync(ledger.path, copy);
  return copy;
}

it('P25: commits, then marks: at most once in a second, and what the last second left when it closes', async () => {
  let now = at(0);
  const other = await openLedger(ledger.path, { now: () => now });
  await addBatch(other, ['R-1']);
  expect(history()).toBe(1n);
  await addBatch(other, ['R-2'], { id: 'b-2' });
  expect(history(), 'within the second').toBe(1n);
  now = at(1000);
  await addBatch(other, ['R-3'], { id: 'b-3' });
  expect(history()).toBe(3n);
  await addBatch(other, ['R-4'], { id: 'b-4' });
  await other.close();
  expect(history(), 'closing marks the rest').toBe(4n);
});

it('P25: a clock that runs backwards does not put the next mark off', async () => {
  let now = at(0);
  const other = await openLedger(ledger.path, { now: () => now });
  await addBatch(other, ['R-1']);
  now = at(-86_400_000);
  await addBatch(other, ['R-2'], { id: 'b-2' });
  expect(history()).toBe(2n);
  await other.close();
});

it('P25: a ledger ahead of its mark is normal; one behind it sends nothing, in any process from then on', async () => {
  await addBatch(ledger, ['R-1']);
  const copy = await copyNow();
  const grown = await openLedger(ledger.path, { now: () => at(0) });
  await addBatch(grown, ['R-2'], { id: 'b-2' });
  await grown.close();
  expect(await causeOf(), 'ahead').toBeUndefined();
  await goBack(copy);
  expect(await causeOf()).toMatch(/went back in time .it had 2 entries and now has 1.*restore --adopt/);
  const fallen = await openLedger(ledger.path, { now: () => at(0) });
  expect(await claimAt(fallen, at(1))).toEqual([]);
  await addBatch(fallen, ['R-3', 'R-4', 'R-5'], { id: 'b-3' });
  await fallen.close();
  expect(await causeOf(), 'growing past the old mark heals nothing').toMatch(/went back in time/);
});

it('P25: a ledger as long as its mark but with another history went back in time', async () => {
  const copy = await copyNow();
  const first = await openLedger(ledger.path, { now: () => at(0) });
  await addBatch(first, ['R-1']);
  await first.close();
  const mark = readFileSync(`${ledger.path}.mark`);
  await goBack(copy);
  rmSync(`${ledger.path}.mark`, { force: true });
  const second = await openLedger(ledger.path, { now: () => at(0) });
  await addBatch(second, ['X-1'], { id: 'b-x' });
  await second.close();
  writeFileSync(`${ledger.path}.mark`, mark);
  expect(await causeOf()).toMatch(/entry 1 of its history is not the one it had/);
});

it('P25: a ledger that is put back under a running process is not sent from, and its mark stays', async () => {
  let now = at(0);
  const running = await openLedger(ledger.path, { now: () => now });
  await addBatch(running, ['R-1']);
  const copy = join(ledger.folder, 'copy.db');
  await copyConsistently(ledger.path, copy);
  now = at(1000);
  expect(await claimAt(running, now)).toHaveLength(1);
  // As `sqlite3 ledger.db ".restore copy.db"` does.
  const older = new Database(copy);
  await older.backup(ledger.path);
  older.close();
  now = at(2000);
  const stopped: unknown = await claimAt(running, now).catch((error: unknown) => error);
  expect(stopped, 'it would go a second time').toMatchObject({
    code: expect.stringMatching(/^SQLITE_/),
    message: expect.stringContaining(
      'went back in time while it was open: entry 2 of its history is not the one it had',
    ),
  });
  expect(fail(stopped).problem, 'not another restore').toContain('counterfoil restore --adopt');
  expect(history()).toBe(2n);
  await running.close();
  expect(await causeOf()).toMatch(/went back in time/);
});

it('P25: one that is put back within a second of its last mark is not sent from either', async () => {
  let now = at(0);
  const running = await openLedger(ledger.path, { now: () => now });
  await addBatch(running, ['R-1', 'R-2']);
  const copy = join(ledger.folder, 'copy.db');
  await copyConsistently(ledger.path, copy);
  const first = await claimAt(running, now);
  expect(first).toHaveLength(1);
  await running.close();
  expect(history()).toBe(3n);
  const again = await openLedger(ledger.path, { now: () => now });
  // The first write marks; those that follow within the second do not.
  await again.write((trx) => setMeta(trx, 'any', 'thing'));
  const older = new Database(copy);
  await older.backup(ledger.path);
  older.close();
  now = at(500);
  const stopped: unknown = await claimAt(again, now).catch((error: unknown) => error);
  expect(stopped, 'it would go a second time').toMatchObject({
    message: expect.stringContaining('went back in time while it was open'),
  });
  await again.close();
  expect(await causeOf()).toMatch(/went back in time/);
});

it('P25: a mark that is gone, cut short or of another ledger is a fall', async () => {
  await addBatch(ledger, ['R-1']);
  await ledger.close();
  const mark = readFileSync(`${ledger.path}.mark`, 'utf8');
  const cases: [string | null, RegExp][] = [
    [null, /mark beside it is gone/],
    ['', /cannot be read/],
    [mark.slice(0, -20), /cannot be read/],
    [mark.replace(/^\S+/, 'another-ledger'), /another ledger stood in its place/],
  ];
  for (const [text, cause] of cases) {
    const path = join(ledger.folder, 'case', 'ledger.db');
    rmSync(dirname(path), { recursive: true, force: true });
    mkdirSync(dirname(path));
    copyFileSync(ledger.path, path);
    if (text !== null) writeFileSync(`${path}.mark`, text);
    expect(await causeOf(path)).toMatch(cause);
  }
});

it('P25: a new ledger in the place of a lost one sends nothing', async () => {
  await addBatch(ledger, ['R-1']);
  await ledger.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(ledger.path + suffix, { force: true });
  expect(await causeOf()).toMatch(/another ledger stood in its place/);
});

it('P25: a process that dies between commit and mark, or between mark and its word of it, harms nothing', async () => {
  await addBatch(ledger, ['R-1']);
  const copy = await copyNow();
  await ledger.close();
  rmSync(`${ledger.path}.mark`);
  const { default: Database } = await import('better-sqlite3');
  const raw = new Database(ledger.path);
  raw.exec(`delete from meta where key = 'marked'`);
  raw.close();
  expect(await causeOf(), 'committed, never marked').toBeUndefined();
  copyFileSync(ledger.path, copy);
  const again = await openLedger(ledger.path, { now: () => at(0) });
  await addBatch(again, ['R-2'], { id: 'b-2' });
  await again.close();
  expect(history()).toBe(2n);
});

it('P25: two processes never put an older mark over a newer one', async () => {
  const others: Ledger[] = [];
  for (let i = 0; i < 4; i++) {
    let ms = i;
    const now = (): string => {
      ms += 1500;
      return at(ms);
    };
    others.push(await openLedger(ledger.path, { now }));
  }
  let last = -1n;
  await Promise.all(
    others.map(async (one, worker) => {
      for (let i = 0; i < 10; i++) {
        await addBatch(one, [`R-${worker}-${i}`], { id: `b-${worker}-${i}` });
        const seen = history();
        expect(seen).toBeGreaterThanOrEqual(last);
        last = seen;
      }
    }),
  );
  for (const one of others) await one.close();
  expect(history()).toBe(40n);
  expect(await causeOf()).toBeUndefined();
});

it('P12: a mark that cannot be written fails the write as the ledger would, and the next one tries again', async () => {
  await addBatch(ledger, ['R-1']);
  const other = await openLedger(ledger.path, { now: () => at(5000) });
  mkdirSync(`${ledger.path}.mark.new`);
  const failing = addBatch(other, ['R-2'], { id: 'b-2' });
  await expect(failing).rejects.toMatchObject({ code: expect.stringMatching(/^SQLITE_IOERR/) });
  await expect(addBatch(other, ['R-3'], { id: 'b-3' })).rejects.toThrow('mark cannot be written');
  rmSync(`${ledger.path}.mark.new`, { recursive: true });
  await addBatch(other, ['R-4'], { id: 'b-4' });
  expect(history(), 'what threw had been committed').toBe(4n);
  await other.close();
});

it('P12: a mark that cannot be read fails the write as the ledger would, since the change is committed', async () => {
  await addBatch(ledger, ['R-1']);
  const other = await openLedger(ledger.path, { now: () => at(5000) });
  rmSync(`${ledger.path}.mark`);
  mkdirSync(`${ledger.path}.mark`);
  const failing = addBatch(other, ['R-2'], { id: 'b-2' });
  await expect(failing).rejects.toMatchObject({
    code: expect.stringMatching(/^SQLITE_IOERR/),
    message: expect.stringMatching(/mark cannot be read/),
  });
  const entries = await ledger.db.selectFrom('history').select('id').execute();
  expect(entries, 'what threw had been committed').toHaveLength(2);
  rmSync(`${ledger.path}.mark`, { recursive: true });
  await other.close();
});

it('a new ledger that several processes open at once is one ledger', () => {
  const path = join(ledger.folder, 'new', 'ledger.db');
  const open = fileURLToPath(new URL('../../src/custody/open-ledger.ts', import.meta.url));
  const script = `
    import { openLedger } from ${JSON.stringify(open)};
    const ledger = await openLedger(${JSON.stringify(path)}, { now: () => new Date().toISOString() });
    const meta = await ledger.db.selectFrom('meta').selectAll().where('key', '=', 'behind').execute();
    console.log(ledger.id, meta.length);
    await ledger.close();`;
  const file = join(ledger.folder, 'open.mjs');
  writeFileSync(file, script);
  const shell = `for i in 1 2 3 4; do "${process.execPath}" --no-warnings "${file}" & done; wait`;
  const lines = execFileSync('sh', ['-c', shell], { encoding: 'utf8' }).trim().split('\n');
  expect(lines).toHaveLength(4);
  expect(new Set(lines).size, lines.join('\n')).toBe(1);
  expect(lines[0]).toMatch(/ 0$/);
});

it('who has the ledger open keeps everybody from being alone, and who is alone keeps the rest out', async () => {
  expect(await shutGate(ledger.path)).toBeNull();
  await ledger.close();
  const gate = await shutGate(ledger.path);
  expect(gate).not.toBeNull();
  await expect(openLedger(ledger.path, { now: () => at(0) })).rejects.toMatchObject({
    code: 'LEDGER_LOCKED',
  });
  await gate?.release();
  const inside = await enterGate(ledger.path);
  const beside = await enterGate(ledger.path);
  inside.release();
  expect(await shutGate(ledger.path), 'one is still inside').toBeNull();
  beside.release();
  expect(existsSync(`${ledger.path}.gate`)).toBe(true);
  chmodSync(`${ledger.path}.gate`, 0o600);
});

it('P25: who came by a link to the file has the same mark and stands in the same gate', async () => {
  await addBatch(ledger, ['R-1']);
  await ledger.close();
  const link = join(ledger.folder, 'link.db');
  symlinkSync(ledger.path, link);
  expect(await causeOf(link), 'no mark of its own is missed').toBeUndefined();
  const linked = await openLedger(link, { now: () => at(0) });
  expect(await shutGate(ledger.path), 'it is not alone').toBeNull();
  await linked.close();
});

it('P25: so does who made the ledger by a link', async () => {
  const link = join(ledger.folder, 'link.db');
  symlinkSync('made.db', link);
  const made = await openLedger(link, { now: () => at(0) });
  await addBatch(made, ['R-1']);
  await made.close();
  expect(await causeOf(join(ledger.folder, 'made.db'))).toBeUndefined();
  expect(await causeOf(link)).toBeUndefined();
});
