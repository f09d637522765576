import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Defect } from './defect.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** What the oracle said of a defective copy; `invariant` null: it saw nothing wrong in all these seeds. */
export type Sight = { invariant: string | null; seed: number; seeds: number; seconds: number };

/** True while the defect can still be put into the code: its text occurs exactly once. */
export function fits({ file, find }: Defect): boolean {
  return readFileSync(join(root, file), 'utf8').split(find).length === 2;
}

/** Lets the simulation run over a copy of the product that has the defect, until the oracle sees it or time is up. */
export async function look(defect: Defect, limit: { seeds: number; seconds: number }): Promise<Sight> {
  const copy = mkdtempSync(join(tmpdir(), 'counterfoil-defect-'));
  try {
    for (const folder of ['src', 'jobs', 'test/simulation', 'config'])
      cpSync(join(root, folder), join(copy, folder), { recursive: true });
    cpSync(join(root, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const file = join(copy, relative('.', defect.file));
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(defect.find, () => defect.replace),
    );
    return await simulate(copy, { ...limit, defect });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function simulate(
  copy: string,
  { seeds, seconds, defect }: { seeds: number; seconds: number; defect: Defect },
): Promise<Sight> {
  const args = ['test/simulation/run.ts', '--json', '--threads', '1', '--small'];
  if (defect.fault) args.push('--fault', defect.fault);
  if (defect.oldCopies) args.push('--old-copies');
  if (defect.brake) args.push('--brake', defect.brake);
  if (defect.from) args.push('--from', `${defect.from}`);
  const child = spawn(process.execPath, [...args, '--seeds', `${seeds}`, '--seconds', `${seconds}`], {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  await new Promise((resolve) => child.on('close', resolve));
  // A defect may break the simulation itself: that is seen too, though not by the oracle.
  if (!out.startsWith('{'))
    return { invariant: `does not run: ${err.slice(0, 300)}`, seed: 0, seeds: 0, seconds: 0 };
  const told: { seeds: number; seconds: number; failed?: { seed: number; invariant: string } } =
    JSON.parse(out);
  const { failed } = told;
  return {
    invariant: failed?.invariant ?? null,
    seed: failed?.seed ?? 0,
    seeds: told.seeds,
    seconds: told.seconds,
  };
}
