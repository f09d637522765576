import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { batchOf, type Home, references, sum } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

const rows = 60;

/** Runs again with a whole disk: nothing was lost, and nothing goes out a second time by itself. */
async function restartsCleanly(home: Home, what: string): Promise<void> {
  const again = await home.run(['submit']);
  expect([0, 4], `${what}: ${again.err}`).toContain(again.code);
  const { payouts } = JSON.parse((await home.run(['status', '--json'])).out);
  expect(sum(payouts), what).toBe(rows);
  expect((payouts.ready ?? 0) + (payouts.sending ?? 0), what).toBe(0);
  const bodies = references(rows).map((reference) => home.sandbox.requests.bodies(reference));
  expect(
    bodies.filter((n) => n > 1),
    `${what}: a body went out twice`,
  ).toEqual([]);
  // What was answered and could not be recorded is unknown, never forgotten.
  expect(payouts.unknown ?? 0, what).toBeGreaterThanOrEqual(bodies.filter((n) => n === 0).length);
  expect((await home.run(['verify'])).code, what).toBe(0);
}

async function prepared(): Promise<Home> {
  const home = await makeHome(
    { latencyMs: 20 },
    { COUNTERFOIL_SERVICE_CONCURRENCY: '4', COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0' },
  );
  await home.json(['submit', home.put('pay.csv', batchOf(rows)), '--no-wait'], 0);
  return home;
}

/** What `submit` runs, in a process of its own and on a ledger that may grow by so many pages only. */
async function submitWithin(home: Home, pages: number): Promise<string> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const from = (name: string): string => JSON.stringify(join(root, name));
  const script = `
    import * as submitJob from ${from('jobs/submit.ts')};
    import { openApp } from ${from('src/app/app.ts')};
    import { loadConfig } from ${from('src/settings/settings.ts')};
    import { readEnvironment } from ${from('src/settings/environment.ts')};
    import { createLogger } from ${from('src/runtime/logger.ts')};
    const { config } = loadConfig({ cwd: process.cwd(), env: readEnvironment() });
    const app = await openApp('whole', { config, log: createLogger({ quiet: true }), maxPageCount: ${pages}, kind: 'submit' });
    await submitJob.run(app).then(() => console.log('all sent'), (error) => console.log(error.code));
    process.exit(1);`;
  const file = home.put('submit-within.mjs', script);
  const child = spawn(process.execPath, ['--no-warnings', file], {
    cwd: home.dir,
    env: { ...clean(), ...home.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  await new Promise((resolve) => child.on('close', resolve));
  return out.trim();
}

it('P12: a ledger that is full in the middle of sending stops it; what was answered is unknown or recorded', async () => {
  const home = await prepared();
  const raw = new Database(join(home.dir, 'data', 'ledger.db'));
  const pages = Number(raw.pragma('page_count', { simple: true }));
  raw.close();
  expect(await submitWithin(home, pages + 6)).toBe('SQLITE_FULL');
  const sent = home.sandbox.requests.posts;
  expect(sent, 'it had begun').toBeGreaterThan(0);
  expect(sent, 'it had not ended').toBeLessThan(rows);
  await restartsCleanly(home, 'full');
});

/** This process's environment without what the test runner and the user set for it. */
function clean(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(COUNTERFOIL_|NODE_|VITEST|VITE_)/.test(name)),
  );
}

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
    expect(done.err).toMatch(/the ledger cannot .*\. Sending has stopped; /);
    const { posts } = home.sandbox.requests;
    if (posts > 0 && posts < rows) midway += 1;
    await restartsCleanly(home, fault);
  }
  expect(midway, 'some of them met it while sending').toBeGreaterThan(0);
}, 120_000);
