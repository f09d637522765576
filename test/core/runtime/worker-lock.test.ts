import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { createWorkers, tryExclusive, tryReconcile } from '../../../src/core/runtime/worker-lock.ts';
import { isLockFree } from '../../../src/core/storage/file-lock.ts';
import type { Ledger } from '../../../src/core/storage/ledger.ts';
import { openLedger } from '../../../src/custody/open-ledger.ts';

const clock = systemClock();
let dir = '';
let ledger: Ledger;
let child: ChildProcess | undefined;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'counterfoil-locks-'));
  ledger = await openLedger(join(dir, 'ledger.db'), { now: () => clock.iso() });
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await ledger.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Another process that registers as a worker and holds the lock `serve`. */
async function startOther(): Promise<ChildProcess> {
  const source = (name: string): string =>
    JSON.stringify(new URL(`../../../src/${name}`, import.meta.url).href);
  const script = `
    const { openLedger } = await import(${source('custody/open-ledger.ts')});
    const { systemClock } = await import(${source('core/runtime/clock.ts')});
    const { createWorkers, tryExclusive } = await import(${source('core/runtime/worker-lock.ts')});
    const clock = systemClock(), dataDir = process.argv[1];
    const ledger = await openLedger(dataDir + '/ledger.db', { now: () => clock.iso() });
    await createWorkers({ ledger, clock, id: 'other' }).start('serve');
    globalThis.held = tryExclusive(dataDir, 'serve');
    process.stdout.write('ready');
    setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ['--input-type=module', '-e', script, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(other.stdout, 'data');
  return other;
}

describe('workers', () => {
  it('P3: a worker lives while its process does, and is dead at once when it is killed', async () => {
    const workers = createWorkers({ ledger, clock, id: 'mine' });
    await workers.start('submit');
    child = await startOther();
    expect(await workers.dead()).toEqual([]);
    expect(tryExclusive(dir, 'serve')).toBeNull();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await workers.dead()).toEqual(['other']);
    const lock = tryExclusive(dir, 'serve');
    expect(lock).not.toBeNull();
    lock?.release();
    await workers.markEnded('other');
    expect(await workers.dead()).toEqual([]);
    await workers.end();
  });

  it('a worker that ended is not dead, and an id cannot run twice', async () => {
    const first = createWorkers({ ledger, clock, id: 'first' });
    await first.start('submit');
    await expect(createWorkers({ ledger, clock, id: 'first' }).start('submit')).rejects.toThrow(
      'already running',
    );
    const second = createWorkers({ ledger, clock, id: 'second' });
    await second.start('submit');
    await first.end();
    expect(await second.dead()).toEqual([]);
    await second.end();
  });

  it('P3: one who works on the same ledger from a data folder of his own lives too', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'counterfoil-elsewhere-'));
    const link = join(elsewhere, 'ledger.db');
    symlinkSync(ledger.path, link);
    const linked = await openLedger(link, { now: () => clock.iso() });
    const far = createWorkers({ ledger: linked, clock, id: 'far' });
    await far.start('submit');
    const near = createWorkers({ ledger, clock, id: 'near' });
    await near.start('submit');
    expect([await near.dead(), await far.dead()]).toEqual([[], []]);
    await far.end();
    await near.end();
    await linked.close();
    rmSync(elsewhere, { recursive: true, force: true });
  });

  it('two ledgers in one folder are reconciled side by side, and each by one process', async () => {
    const other = await openLedger(join(dir, 'other.db'), { now: () => clock.iso() });
    const locks = [await tryReconcile(ledger), await tryReconcile(other)];
    expect(locks).not.toContain(null);
    expect(await tryReconcile(ledger)).toBeNull();
    for (const lock of locks) await lock?.release();
    await other.close();
  });

  it('a named lock is exclusive within one process too', () => {
    const lock = tryExclusive(dir, 'reconcile');
    expect(tryExclusive(dir, 'reconcile')).toBeNull();
    lock?.release();
    const again = tryExclusive(dir, 'reconcile');
    expect(again).not.toBeNull();
    again?.release();
  });
});

it('a lock that nobody refers to any more is held until its process ends, whatever the garbage collector does', async () => {
  const source = JSON.stringify(new URL('../../../src/core/storage/file-lock.ts', import.meta.url).href);
  const script = `
    const { holdLock } = await import(${source});
    holdLock(process.argv[1]);
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc();
    process.stdout.write('ready');
    setInterval(() => {}, 1000);`;
  const path = join(dir, 'gc.lock');
  child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout) await once(child.stdout, 'data');
  expect(isLockFree(path)).toBe(false);
});

it('a lock that cannot be opened is named, so that somebody can give it to the right account', () => {
  // A folder cannot be opened as a lock by any account.
  mkdirSync(join(dir, 'locks/serve.lock'), { recursive: true });
  expect(() => tryExclusive(dir, 'serve')).toThrow(/unable to open database file: .*locks\/serve\.lock/);
});
