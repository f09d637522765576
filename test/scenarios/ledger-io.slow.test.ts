import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { flat, type Home } from '../support/cli.ts';
import { clean, prepared, restartsCleanly, rows } from './failing-ledger.ts';

const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));

/** Whether strace can trace here; without it the test below has nothing to inject faults with. */
function canTrace(): boolean {
  const tried = spawnSync('strace', ['-f', '-o', '/dev/null', process.execPath, '-e', '0']);
  return tried.status === 0;
}

/** Runs a command with the Nth call, and each after it, failing as a dying disk does. */
function withFault(
  home: Home,
  fault: string,
  log: string,
  args: string[],
): Promise<{ code: number | null; err: string }> {
  const call = fault.split(':')[0] ?? '';
  const trace = ['-f', '-qq', '-e', `trace=${call}`, '-e', 'signal=none', '-e', `inject=${fault}`, '-o', log];
  const child = spawn('strace', [...trace, process.execPath, bin, ...args], {
    cwd: home.dir,
    env: { ...clean(), ...home.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, err }));
  });
}

it('P12: a disk that fails while sending is one line and exit 1, and nothing is sent twice after it', async () => {
  if (!canTrace()) {
    console.log('strace cannot trace here: what a failing disk does to sending was not tried');
    return;
  }
  const faults = [
    'fsync:error=EIO:when=2+',
    'fsync:error=EIO:when=8',
    'fsync:error=EIO:when=14+',
    'pwrite64:error=EIO:when=60+',
    'pwrite64:error=ENOSPC:when=120+',
  ];
  let midway = 0;
  for (const fault of faults) {
    const home = await prepared();
    const log = join(home.dir, 'strace.log');
    const done = await withFault(home, fault, log, ['submit']);
    expect(readFileSync(log, 'utf8'), `${fault} was injected`).toContain('(INJECTED)');
    expect(done.code, `${fault}: ${done.err}`).toBe(1);
    expect(done.err.split('\n').filter((line) => line.startsWith('counterfoil: '))).toHaveLength(1);
    expect(done.err).not.toMatch(/\n\s+at /);
    expect(flat(done.err)).toMatch(/the ledger cannot .*\. Sending has stopped; /);
    const { posts } = home.sandbox.requests;
    if (posts > 0 && posts < rows) midway += 1;
    await restartsCleanly(home, fault);
  }
  expect(midway, 'some of them met it while sending').toBeGreaterThan(0);
}, 120_000);
