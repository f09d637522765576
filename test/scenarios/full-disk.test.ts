import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { batchOf, type Home, references, sum, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

const said = /the disk is full/;
const technical = /rollback|SHMSIZE|SQLITE_|ENOSPC|\n\s+at /;

/** Puts the data folder on a disk of its own of so many kilobytes; false where this account may not mount one. */
function onSmallDisk(home: Home, kilobytes: number): boolean {
  const data = join(home.dir, 'data');
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k,mode=0700`, 'tmpfs', data]);
  if (mounted.status !== 0) return false;
  onTestFinished(() => void spawnSync('umount', ['-l', data]));
  return true;
}

/** Fills the disk to its last byte. */
function fill(home: Home): string {
  const path = join(home.dir, 'data', 'filler');
  const file = openSync(path, 'w');
  try {
    for (const size of [65_536, 4096, 1]) for (;;) if (writeSync(file, Buffer.alloc(size)) < size) break;
  } catch {
    // Full.
  } finally {
    closeSync(file);
  }
  return path;
}

it('P12: on a full disk every command that must write says that the disk is full, and loses nothing', async () => {
  const home = await makeHome();
  if (!onSmallDisk(home, 6000)) {
    console.log('no disk could be mounted here: what a full one does to the commands was not tried');
    return;
  }
  await home.json(['submit', home.put('pay.csv', batchOf(20)), '--no-wait'], 0);
  const filler = fill(home);
  const more = home.put('more.csv', batchOf(5));
  const commands = [
    ['submit'],
    ['submit', more],
    ['check', more],
    ['reconcile'],
    ['report'],
    ['status'],
    ['show', 'PAY-0001'],
    ['verify'],
    ['hold', '--mode', '--yes'],
    ['backup', join(home.dir, 'data', 'copy.db')],
  ];
  for (const command of commands) {
    const { code, err } = await home.run(command);
    expect({ command, code, err }).toEqual({ command, code: 1, err: expect.stringMatching(said) });
    expect(err).not.toMatch(technical);
  }
  expect(home.sandbox.requests.posts).toBe(0);
  rmSync(filler);
  await home.json(['submit'], 0);
  expect(bodiesOf(home, 20)).toEqual(Array(20).fill(1));
});

it('P12: a disk that becomes full in the middle of sending is called full, and nothing is sent twice', async () => {
  const rows = 200;
  const home = await makeHome(
    { latencyMs: 20 },
    { COUNTERFOIL_SERVICE_CONCURRENCY: '4', COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0' },
  );
  if (!onSmallDisk(home, 8000)) {
    console.log('no disk could be mounted here: what a full one does to sending was not tried');
    return;
  }
  await home.json(['submit', home.put('pay.csv', batchOf(rows)), '--no-wait'], 0);
  const sending = home.start(['submit']);
  await until(
    10_000,
    () => home.sandbox.requests.posts,
    (posts) => posts > 10,
  );
  const filler = fill(home);
  const { code, err } = await sending.done;
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(said) });
  expect(err).not.toMatch(technical);
  expect(home.sandbox.requests.posts, 'it had not ended').toBeLessThan(rows);
  rmSync(filler);
  const again = await home.run(['submit']);
  expect([0, 4], again.err).toContain(again.code);
  expect(bodiesOf(home, rows).filter((n) => n > 1)).toEqual([]);
  expect(sum(JSON.parse((await home.run(['status', '--json'])).out).payouts)).toBe(rows);
  expect((await home.run(['verify'])).code).toBe(0);
});

function bodiesOf(home: Home, rows: number): number[] {
  return references(rows).map((reference) => home.sandbox.requests.bodies(reference));
}
