import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Place } from '../simulation/defects/defect.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What `npm run pairs -- --json` says. */
type Said = {
  run: number;
  seconds: number;
  idle: string[];
  failed: { number: number; name: string; invariant: string; detail: string } | null;
  hash: string;
};

/** Runs plays in a process of their own: in a test, modules are loaded by another process, for which no play waits. */
export async function runPairs(args: readonly string[], defect: readonly Place[] = []): Promise<Said> {
  const putIn = new URL('../simulation/defects/put-in.ts', import.meta.url).href;
  const before = defect.length > 0 ? ['--import', putIn] : [];
  const child = spawn(process.execPath, [...before, 'test/pairs/run.ts', '--json', ...args], {
    cwd: root,
    env: { ...process.env, DEFECT: JSON.stringify(defect) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    texts.out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    texts.err += chunk;
  });
  await new Promise((resolve) => child.on('close', resolve));
  if (!texts.out.startsWith('{')) throw new Error(`the plays did not run: ${texts.err.slice(0, 500)}`);
  return JSON.parse(texts.out);
}
