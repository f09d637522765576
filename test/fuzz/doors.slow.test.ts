import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import { expect, it } from 'vitest';
import { startCoverage } from './doors/coverage.ts';
import { evolve } from './doors/evolve.ts';

// Five branches deep: blind changes of 'x' would need 256^5 tries.
const planted = `(input) => {
  if (input[0] === 80) { if (input[1] === 65) { if (input[2] === 89) {
    if (input[3] === 77) { if (input[4] === 69) { throw new Error('paid twice'); } } } } }
}`;

it('finds a fault behind five nested branches, the same one with the same seed', async () => {
  const once = async (filename: string) => {
    const enter = runInThisContext(planted, { filename });
    const coverage = startCoverage((url) => url === filename);
    const limits = { inputs: 200_000, seconds: 60, seed: 3 };
    return evolve({ seeds: ['xxxxx'], words: [], enter }, coverage, limits);
  };
  const [first, again] = [await once('file:///planted-1.js'), await once('file:///planted-2.js')];
  expect(first.faults[0]?.what).toMatch(/^threw Error: paid twice/);
  expect(again.faults.map(({ at, input }) => [at, input])).toEqual(
    first.faults.map(({ at, input }) => [at, input]),
  );
}, 180_000);

const doors = ['batch', 'collections', 'workbook', 'yaml', 'dotenv', 'webhook', 'reply', 'list', 'restore'];

// The whole of it: npm run fuzz:doors -- --door NAME --inputs 1000000
it.each([...doors, 'archive', 'admin'])(
  'takes no hostile bytes wrongly at the door %s',
  async (door) => {
    const script = fileURLToPath(new URL('doors.ts', import.meta.url));
    const args = [script, '--door', door, '--inputs', '2000', '--seconds', '6'];
    const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH ?? '' } });
    const told = await text(child.stdout);
    expect(told).toMatch(/, 0 unhandled, 0 faults/);
  },
  60_000,
);
