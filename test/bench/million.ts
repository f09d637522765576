import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { adminPort, deskToken, keys, startMillionService } from './million-home.ts';
import { timePages } from './million-pages.ts';

/**
 * What a ledger of a million payouts costs: builds one in a folder where there is none, and prints a table. `--only`
 * names measures, comma-separated.
 */
const { values } = parseArgs({
  options: {
    dir: { type: 'string', default: '/tmp/counterfoil-million' },
    copies: { type: 'string', default: '100' },
    only: { type: 'string', default: '' },
  },
});
const dir = values.dir;
const ledgerFile = join(dir, 'data', 'ledger.db');
const usageFile = join(dir, 'usage.jsonl');
const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));
const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

type Figure = { wall: number; cpuSeconds: number; peakMb: number };

const measures: Record<string, () => Promise<Figure & { more?: string }>> = {
  status: () => command(['status', '--json']),
  doctor: () => command(['doctor', '--json']),
  'first page': firstPage,
  pages,
  backup,
  verify: () => command(['verify', '--json']),
  reconcile: () => withService(() => command(['reconcile', '--full', '--json'])),
  'reconcile again': () => withService(() => command(['reconcile', '--full', '--json'])),
  upgrade,
};

if (!existsSync(ledgerFile)) await build();
console.log(`ledger: ${Math.round(sizeMb(ledgerFile))} MB`);
console.log('| measure         | seconds | of processor | peak MB | |');
console.log('|-----------------|--------:|-------------:|--------:|-|');
for (const [name, measure] of Object.entries(measures)) {
  if (values.only !== '' && !values.only.split(',').includes(name)) continue;
  const { wall, cpuSeconds, peakMb, more = '' } = await measure();
  const cells = [name.padEnd(15), wall.toFixed(2).padStart(7), cpuSeconds.toFixed(2).padStart(12)];
  console.log(`| ${[...cells, String(peakMb).padStart(7), more].join(' | ')} |`);
}

async function build(): Promise<void> {
  for (const args of [
    ['--import', script('heap-limits.ts'), script('million-build.ts'), dir],
    [script('million-copy.ts'), dir, '10000', values.copies],
  ]) {
    const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit');
    if (code !== 0) throw new Error('the ledger could not be built');
  }
}

function sizeMb(file: string): number {
  return statSync(file).size / 1e6;
}

function start(args: readonly string[], options: { stdout?: 'pipe'; program?: string } = {}): ChildProcess {
  rmSync(usageFile, { force: true });
  const env = { ...process.env, ...keys, MILLION_USAGE: usageFile };
  return spawn(process.execPath, [options.program ?? bin, ...args], {
    cwd: dir,
    env: { ...env, NODE_OPTIONS: `--import ${script('million-usage.mjs')}` },
    stdio: ['ignore', options.stdout ?? 'ignore', 'inherit'],
  });
}

/** What the processes of a command used together; the largest peak. */
function used(): Omit<Figure, 'wall'> {
  const lines: Omit<Figure, 'wall'>[] = readFileSync(usageFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return {
    cpuSeconds: lines.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    peakMb: Math.max(...lines.map(({ peakMb }) => peakMb)),
  };
}

async function command(args: readonly string[]): Promise<Figure & { more?: string }> {
  const began = performance.now();
  const child = start(args);
  const [code] = await once(child, 'exit');
  return { wall: (performance.now() - began) / 1000, ...used(), more: `exit ${code}` };
}

async function withService<T>(work: () => Promise<T>): Promise<T> {
  const service = await startMillionService(dir);
  try {
    return await work();
  } finally {
    await service.stop();
  }
}

/** The dashboard's first page, as the first and as a later reader sees it. */
async function firstPage(): Promise<Figure & { more?: string }> {
  const child = start(['serve', '--json'], { stdout: 'pipe' });
  await once(child.stdout ?? child, 'data');
  child.stdout?.resume();
  const times: number[] = [];
  for (let n = 0; n < 4; n++) {
    await sleep(n === 0 ? 0 : 1500);
    const began = performance.now();
    const answer = await fetch(`http://127.0.0.1:${adminPort}/`);
    const text = await answer.text();
    if (!answer.ok || !text.includes('Money by state')) throw new Error(`the page answered ${answer.status}`);
    times.push((performance.now() - began) / 1000);
  }
  child.kill('SIGTERM');
  await once(child, 'exit');
  const more = `then ${times
    .slice(1)
    .map((time) => time.toFixed(2))
    .join(', ')}`;
  return { wall: times[0] ?? Number.NaN, ...used(), more };
}

/** Every page of the desk, as a person with all rights sees it. */
async function pages(): Promise<Figure & { more?: string }> {
  const child = start(['serve', '--json'], { stdout: 'pipe' });
  await once(child.stdout ?? child, 'data');
  child.stdout?.resume();
  const times = await timePages(`http://127.0.0.1:${adminPort}`, deskToken);
  child.kill('SIGTERM');
  await once(child, 'exit');
  for (const { kind, ms, paintMs } of times.toSorted((a, b) => b.ms - a.ms))
    console.log(`| ${kind} | ${ms.toFixed(0)} ms | ${paintMs === null ? '–' : `${paintMs.toFixed(0)} ms`} |`);
  const slowest = times.toSorted((a, b) => b.ms - a.ms)[0];
  return { wall: (slowest?.ms ?? 0) / 1000, ...used(), more: `slowest of ${times.length}: ${slowest?.kind}` };
}

/** A backup, and how long it keeps another process from committing. */
async function backup(): Promise<Figure & { more?: string }> {
  const file = join(dir, 'copy.db');
  rmSync(file, { force: true });
  const writer = new Database(ledgerFile, { timeout: 60_000 });
  writer.pragma('synchronous = FULL');
  const note = writer.prepare(
    "insert into tallies (name, n) values ('bench', 1) on conflict (name) do update set n = n + 1",
  );
  const commits: number[] = [];
  const commit = async (ms: number): Promise<void> => {
    for (const until = performance.now() + ms; performance.now() < until; await sleep(2)) {
      const began = performance.now();
      note.run();
      commits.push(performance.now() - began);
    }
  };
  await commit(3000);
  const alone = Math.max(...commits.splice(0));
  let done = false;
  const made = command(['backup', file]).finally(() => {
    done = true;
  });
  while (!done) await commit(20);
  await commit(1000);
  const figure = await made;
  const longest = Math.max(...commits);
  const slow = commits.filter((ms) => ms > 100).length;
  writer.prepare("delete from tallies where name = 'bench'").run();
  writer.close();
  const size = sizeMb(file).toFixed(0);
  rmSync(file, { force: true });
  const more = `longest commit ${longest.toFixed(0)} ms (alone ${alone.toFixed(0)}), ${slow} above 100 ms of ${commits.length}; ${size} MB`;
  return { ...figure, more };
}

/** The upgrade of a copy to a next version with a new column, a new index and a rebuilt history. */
async function upgrade(): Promise<Figure & { more?: string }> {
  const copy = join(dir, 'older.db');
  copyFileSync(ledgerFile, copy);
  try {
    const began = performance.now();
    const child = start([copy], { stdout: 'pipe', program: script('million-upgrade.ts') });
    const said = text(child.stdout ?? process.stdin);
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error('the ledger could not be upgraded');
    return { wall: (performance.now() - began) / 1000, ...used(), more: (await said).trim() };
  } finally {
    for (const end of ['', '-wal', '-shm', '.gate', '.mark']) rmSync(`${copy}${end}`, { force: true });
  }
}
