import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Mutant, mutate, nameOf } from './mutate.ts';
import type { Job, Step } from './runner.ts';
import { reasonOf } from './survivors.ts';

// npm run mutants -- core/domain [--share 1/4] [--seconds 600]; a file of src/, or one mutant as FILE:LINE:NUMBER.
const root = fileURLToPath(new URL('../../', import.meta.url));
process.chdir(root);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { share: { type: 'string', default: '1/1' }, seconds: { type: 'string', default: '3600' } },
});
const began = Date.now();
const until = began + Number(values.seconds) * 1000;
const [part = 1, parts = 1] = values.share.split('/').map(Number);
const [, path = '', line, nth] = /^(?:src\/)?(.+?)(?::(\d+):(\d+))?$/.exec(positionals[0] ?? '') ?? [];
const sources = path.endsWith('.ts') ? [`src/${path}`] : globSync(`src/${path}/*.ts`).toSorted();
const room = path.replace(/\/[^/]+\.ts$/, '');

const files: Record<string, number> = {};
const mutants: Mutant[] = [];
for (const file of sources) {
  files[file] = mutants.length;
  mutants.push(...mutate(file, readFileSync(file, 'utf8')).mutants);
}
const isAsked = (mutant: Mutant, id: number): boolean =>
  id % parts === part - 1 && (line === undefined || nameOf(mutant) === `src/${path}:${line}:${nth}`);
const asked = mutants.flatMap((mutant, id) => (isAsked(mutant, id) ? [id] : []));
const named = new Set(asked.filter((id) => mutants[id] && reasonOf(mutants[id]) !== undefined));
const left = new Set(asked.filter((id) => !named.has(id)));
const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
const { near, far } = testsThatReach(new Set(sources));
const touchedBy = new Map<string, Set<number>>();
const loaded = new Set<number>();
const tried = new Set<number>();

/** Runs tests until they end, a mutant hangs, or the time is over: true if all passed. */
async function work(order: string[], active: number | null): Promise<{ passed: boolean; last?: Step }> {
  const steps = join(folder, `steps-${Date.now()}`);
  writeFileSync(steps, '');
  const job: Job = { files, left: [...left], active, mostMs: 5000, steps };
  const path = join(folder, 'job.json');
  writeFileSync(path, JSON.stringify(job));
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mutants/vitest.config.ts'],
    {
      env: { ...process.env, MUTANTS_JOB: path, MUTANTS_TESTS: JSON.stringify(order) },
      stdio: process.env.MUTANTS_SHOW ? 'inherit' : 'ignore',
      detached: true,
    },
  );
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  let read = 0;
  let last: Step | undefined;
  let since = Date.now();
  for (;;) {
    const code = await Promise.race([
      ended,
      new Promise<undefined>((done) => setTimeout(() => done(undefined), 500)),
    ]);
    const text = readFileSync(steps, 'utf8');
    const whole = text.lastIndexOf('\n') + 1;
    for (const one of text.slice(read, whole).split('\n').filter(Boolean)) {
      last = JSON.parse(one) as Step;
      since = Date.now();
      take(last);
    }
    read = whole;
    if (code !== undefined) return { passed: code === 0, ...(last && { last }) };
    const limitMs = last?.kind === 'trying' ? 20_000 : 120_000;
    if (Date.now() < until && Date.now() - since < limitMs) continue;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await ended;
    return { passed: false, ...(last && { last }) };
  }
}

function take(step: Step): void {
  if (step.kind === 'killed') left.delete(step.id);
  if (step.kind === 'unrepeatable' || step.kind === 'long') console.log(`  ${step.kind}: ${step.test}`);
  if (step.kind !== 'done') return;
  const file = relative(root, step.file);
  touchedBy.set(file, new Set(step.touched));
  for (const id of step.loaded) loaded.add(id);
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(`${seconds} s  ${left.size} left of ${asked.length} after ${file}`);
}

/** Tries all mutants that are left with these tests; false if the time was over before. */
async function tryWith(files: readonly string[]): Promise<boolean> {
  let waiting = [...files];
  while (waiting.length > 0 && left.size > 0) {
    if (Date.now() >= until) return false;
    const { last } = await work(waiting, null);
    // The worker ended on a mutant: it hung or ended the process.
    if (Date.now() < until && last?.kind === 'trying') left.delete(last.id);
    const before = waiting.length;
    waiting = waiting.filter((file) => !touchedBy.has(file));
    // A file that does not even load is left out.
    const stands = waiting.length === before && last?.kind !== 'trying' && last?.kind !== 'killed';
    if (stands) waiting = waiting.slice(1);
  }
  return true;
}

/** What runs on import alone and was not tried yet. */
function fixedOnes(): number[] {
  const touched = new Set([...touchedBy.values()].flatMap((ids) => [...ids]));
  return [...left].filter((id) => loaded.has(id) && !touched.has(id) && !tried.has(id));
}

/** Tries what runs on import alone, each with a fresh worker. */
async function tryFixed(): Promise<void> {
  for (const id of fixedOnes()) {
    if (Date.now() >= until) return;
    tried.add(id);
    const [first, next] = bounds(id);
    const touches = (file: string): boolean =>
      [...(touchedBy.get(file) ?? [])].some((one) => one >= first && one < next);
    const nearest = testsThatReach(new Set(sources.filter((file) => files[file] === first))).near;
    const tests = new Set([...nearest, ...near.filter(touches), ...near]);
    const { passed } = await work([...tests].slice(0, 8), id);
    if (!passed && Date.now() < until) left.delete(id);
  }
}

// What runs on import takes a worker each: the tests of the room itself come before it, and all others after it.
const own = near.filter((file) => file.startsWith(`test/${room}/`));
await tryWith(own);
await tryFixed();
const isDone = await tryWith([...near, ...far].filter((file) => !own.includes(file)));
await tryFixed();
const notRun = isDone ? fixedOnes().length : left.size;

/** The numbers of the first mutant of its file and of the first of the next file. */
function bounds(id: number): [number, number] {
  const firsts = [...Object.values(files), mutants.length];
  const next = firsts.find((first) => first > id) ?? mutants.length;
  return [Math.max(...firsts.filter((first) => first <= id)), next];
}

/** The quick tests whose imports reach one of the files, the nearest first; `near`: those that import one themselves. */
function testsThatReach(targets: Set<string>): { near: string[]; far: string[] } {
  const steps = new Map<string, number>();
  /** How many imports lie between a file and the nearest target. */
  const stepsFrom = (file: string): number => {
    const known = steps.get(file);
    if (known !== undefined) return known;
    if (targets.has(file)) return 0;
    steps.set(file, Infinity);
    const imported = [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/g)]
      .map(([, to = '']) => relative(root, resolve(file, '..', to)))
      .filter((to) => /^(src|jobs|test)\//.test(to) && existsSync(to));
    const found = 1 + Math.min(...imported.map(stepsFrom));
    steps.set(file, found);
    return found;
  };
  const home = `test/${room}/`.split('/');
  const away = (file: string): number => {
    const its = file.split('/');
    const differs = home.findIndex((name, i) => name !== its[i]);
    return differs < 0 ? 0 : home.length - differs;
  };
  const size = (file: string): number => readFileSync(file).length;
  const all = globSync('test/**/*.test.ts')
    .filter((file) => !/\.slow\.test\.ts$|^test\/mutants\//.test(file) && stepsFrom(file) < Infinity)
    .toSorted((a, b) => stepsFrom(a) - stepsFrom(b) || away(a) - away(b) || size(a) - size(b));
  const isNear = (file: string): boolean => stepsFrom(file) === 1;
  return { near: all.filter(isNear), far: all.filter((file) => !isNear(file)) };
}

const touched = new Set([...touchedBy.values()].flatMap((ids) => [...ids]));
for (const id of left) {
  const mutant = mutants[id];
  if (mutant)
    console.log(
      `survived ${nameOf(mutant)}  ${mutant.from}  →  ${mutant.to}${touched.has(id) || loaded.has(id) ? '' : '  (no test runs it)'}`,
    );
}
const killed = asked.length - named.size - left.size;
console.log(
  `${asked.length} mutants: ${killed} killed, ${left.size - notRun} survived, ${named.size} named, ${notRun} not run; ${Math.round((Date.now() - began) / 1000)} s`,
);
process.exitCode = left.size - notRun > 0 ? 1 : 0;
