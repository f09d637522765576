import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const heap = new URL('../src/heap.js', import.meta.url).href;

/** The committed bytes of the young generation after `work`, in a process of its own. */
function youngGeneration(work: string): number {
  const script = `import { getHeapSpaceStatistics } from 'node:v8';
    ${work}
    let kept = [];
    for (let i = 0; i < 2_000_000; i++) {
      kept.push({ i });
      if (kept.length > 100_000) kept = [];
    }
    console.log(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('..', import.meta.url)),
  });
  return Number(stdout);
}

it('keeps two halves of 4 MB for young objects, however much work there is', () => {
  const megabyte = 2 ** 20;
  expect(youngGeneration(`import { limitHeap } from '${heap}'; limitHeap();`)).toBe(8 * megabyte);
  expect(youngGeneration('')).toBeGreaterThan(8 * megabyte);
});
