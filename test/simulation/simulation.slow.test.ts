import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { addCounts } from './coverage.ts';
import { runDay } from './day.ts';
import { turnNames } from './long-weather.ts';

/** How long seeds are run, and how many at least, however slow the machine. */
const seconds = 20;
const fewest = 12;
const longestSeconds = 600;

/** In a test a module is loaded by another process, and virtual time does not wait for that. */
beforeAll(async () => {
  for (const folder of ['src', 'jobs']) {
    const root = fileURLToPath(new URL(`../../${folder}`, import.meta.url));
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.ts') && name !== 'cli.ts'))
      await import(join(root, file));
  }
}, 60_000);

it('a seed always makes the same day', async () => {
  for (const [seed, turn] of [
    [1, 'paper'],
    [2, 'files'],
    [3, 'clock'],
  ] as const) {
    const first = await runDay(seed, { small: true, turn });
    const second = await runDay(seed, { small: true, turn });
    expect(first.violation).toBeUndefined();
    expect(second.hash).toBe(first.hash);
    expect(second.counts).toEqual(first.counts);
  }
}, 120_000);

it('seeds differ from each other', async () => {
  const days = [await runDay(4, { small: true }), await runDay(5, { small: true })];
  expect(days[0]?.hash).not.toBe(days[1]?.hash);
}, 60_000);

it(
  'nobody is paid twice, nothing is lost, nothing false is believed, on any day that a seed makes',
  async () => {
    const counts: Record<string, number> = {};
    const started = performance.now();
    const passed = (): number => (performance.now() - started) / 1000;
    let seeds = 0;
    while ((seeds < fewest && passed() < longestSeconds) || passed() < seconds) {
      seeds += 1;
      const turn = turnNames[seeds % turnNames.length] ?? null;
      const { violation, story, counts: own, seed } = await runDay(seeds, { small: true, turn });
      const again = `npm run simulate -- --seeds 1 --from ${seed} --small --turn ${turn} --trace`;
      expect(violation, `seed ${seed}\n${story}\n${again}`).toBeUndefined();
      addCounts(counts, own);
    }
    process.stdout.write(`simulation: ${seeds} seeds in ${passed().toFixed(0)} s\n`);
    expect(seeds).toBeGreaterThanOrEqual(fewest);
    expect(Object.keys(counts).filter((kind) => kind.startsWith('crash: ')).length).toBeGreaterThan(5);
  },
  (longestSeconds + 60) * 1000,
);
