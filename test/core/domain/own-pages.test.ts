import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { giveBackMemory, ownPages } from '../../../src/core/domain/own-pages.ts';

const module = new URL('../../../src/core/domain/own-pages.ts', import.meta.url).href;
const megabyte = 2 ** 20;

it('gives the memory of a buffer back to the system, also after larger ones were released', () => {
  // The first release raises the size from which the C library maps blocks by themselves.
  const script = `import { giveBackMemory, ownPages } from '${module}';
    giveBackMemory(new Uint8Array(${16 * megabyte}).fill(1));
    const before = process.memoryUsage.rss();
    const columns = Array.from({ length: 8 }, () => new Uint8Array(ownPages(${4 * megabyte})).fill(1));
    const above = new Uint8Array(${megabyte / 8});
    const full = process.memoryUsage.rss();
    columns.forEach(giveBackMemory);
    console.log(JSON.stringify([full - before, process.memoryUsage.rss() - before, above.length]));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
  });
  const [full, after] = JSON.parse(stdout);
  expect(full).toBeGreaterThan(30 * megabyte);
  expect(after).toBeLessThan(4 * megabyte);
});

it('a buffer whose memory was given back can no longer be read', () => {
  const bytes = new Uint8Array(ownPages(8)).fill(1);
  expect(bytes).toHaveLength(8);
  giveBackMemory(bytes);
  expect(bytes).toHaveLength(0);
});
