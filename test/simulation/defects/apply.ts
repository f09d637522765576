import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Defect, Place } from './defect.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** What the oracle said of a defective copy; `invariant` null: it saw nothing wrong in all these seeds. */
export type Sight = { invariant: string | null; seed: number; seeds: number; seconds: number };

/** Where the defect no longer fits: the places whose text does not occur exactly once. */
export function misfits(defect: Defect): Place[] {
  const occurs = ({ file, find }: Place): number =>
    readFileSync(join(root, file), 'utf8').split(find).length - 1;
  return placesOf(defect).filter((place) => occurs(place) !== 1);
}

function placesOf({ file, find, replace, also = [] }: Defect): Place[] {
  return [{ file, find, replace }, ...also];
}

/** Lets the simulation run over the product with the defect in it, until the oracle sees it or time is up. */
export async function look(defect: Defect, limit: { seeds: number; seconds: number }): Promise<Sight> {
  // Days without the defect would only take their time.
  const [misfit] = misfits(defect);
  if (misfit) return doesNotRun(`${misfit.file} no longer holds its text exactly once`);
  const args = ['--import', new URL('./put-in.ts', import.meta.url).href, 'test/simulation/run.ts', '--json'];
  args.push('--threads', '1', '--small', '--seeds', `${limit.seeds}`, '--seconds', `${limit.seconds}`);
  if (defect.fault) args.push('--fault', defect.fault);
  if (defect.again) args.push('--again', defect.again);
  if (defect.oldCopies) args.push('--old-copies');
  if (defect.doubtful) args.push('--doubtful');
  if (defect.brake) args.push('--brake', defect.brake);
  if (defect.turn) args.push('--turn', defect.turn);
  if (defect.from) args.push('--from', `${defect.from}`);
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, DEFECT: JSON.stringify(placesOf(defect)) },
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
  const ended = await new Promise<string>((resolve) => {
    child.on('close', (code, signal) => resolve(signal ?? `exit ${code}`));
  });
  // A defect may break the simulation itself: that is seen too, though not by the oracle.
  if (!out.startsWith('{')) return doesNotRun(err.slice(0, 300) || `it ended: ${ended}`);
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

function doesNotRun(why: string): Sight {
  return { invariant: `does not run: ${why}`, seed: 0, seeds: 0, seconds: 0 };
}
