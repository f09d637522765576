import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const model = fileURLToPath(new URL('send.pml', import.meta.url));

/** A fault that can be planted in the model: the name that is defined, and the rule that it breaks. */
export type Fault = { define: string; breaks: string };
export const faults: readonly Fault[] = [
  { define: 'FAULT_READY', breaks: 'P3: the claims of a dead worker become ready again' },
  { define: 'FAULT_FENCE', breaks: 'P3: a worker that was taken over sends all the same' },
  { define: 'FAULT_LOOKUP', breaks: 'P31: nobody asks before a second POST' },
  { define: 'FAULT_STALE', breaks: 'P31: an answer counts for attempts that began after it' },
  { define: 'FAULT_FIRST', breaks: 'P4: the refusal of one attempt refuses the payout' },
  { define: 'FAULT_HOLD', breaks: 'P21: a claim does not look at the hold' },
];

export type ModelSize = { attempts: number; orders: number; crashes: number };
export type Proof = { errors: number; states: number; whole: boolean };

/** What is missing on this machine to check the model; null where it can be checked. */
export async function missingTool(): Promise<string | null> {
  for (const [tool, flag] of [
    ['spin', '-V'],
    ['gcc', '--version'],
  ] as const)
    if (!(await run(tool, [flag]).catch(() => null))) return tool;
  return null;
}

/** Checks the model, with one fault planted in it or none: every state that it can reach. */
export async function checkModel(
  { attempts, orders, crashes }: ModelSize,
  fault: Fault | null,
): Promise<Proof> {
  const cwd = await mkdtemp(join(tmpdir(), 'counterfoil-model-'));
  try {
    const sizes = [`-DATTEMPTS=${attempts}`, `-DORDERS=${orders}`, `-DCRASHES=${crashes}`];
    await run('spin', ['-a', ...sizes, ...(fault ? [`-D${fault.define}`] : []), model], { cwd });
    await run('gcc', ['-O2', '-DCOLLAPSE', '-DSAFETY', '-w', '-o', 'pan', 'pan.c'], { cwd });
    const { stdout } = await run('./pan', ['-m1000000', '-w24'], { cwd, maxBuffer: 2 ** 26 });
    const [, errors = '1'] = /errors: (\d+)/.exec(stdout) ?? [];
    const [, states = '0'] = /([\d.e+]+) states, stored/.exec(stdout) ?? [];
    const isWhole = !/Search not completed|max search depth too small/.test(stdout);
    return { errors: Number(errors), states: Number(states), whole: isWhole };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** Proves the model whole, and that each planted fault is found. Returns why it is not proved; null where it is. */
export async function proveModel({
  say,
  ...size
}: ModelSize & { say(line: string): void }): Promise<string | null> {
  const missing = await missingTool();
  if (missing !== null) {
    say(`NOT PROVED: there is no ${missing} on this machine (apt-get install spin gcc)`);
    return missing;
  }
  const { errors, states, whole } = await checkModel(size, null);
  const isProved = errors === 0 && whole;
  say(
    `${isProved ? 'proved' : 'NOT PROVED'}: ${states} states, ${errors} errors${whole ? '' : ', not searched to the end'}`,
  );
  const unseen: string[] = [];
  for (const fault of faults) {
    const planted = await checkModel(size, fault);
    if (planted.errors === 0) unseen.push(fault.define);
    say(`${planted.errors > 0 ? 'found' : 'NOT FOUND'} after ${planted.states} states: ${fault.breaks}`);
  }
  if (!isProved) return 'the model breaks a rule';
  return unseen.length > 0 ? `${unseen.join(', ')} is not found` : null;
}
