import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { start } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it('demo needs no key and no configuration, finds what it planted, and names the reports', async () => {
  const began = performance.now();
  const cwd = temporaryFolder();
  const done = await start(['demo'], { cwd, env: { TMPDIR: cwd } }).done;
  expect(done.code, done.out + done.err).toBe(0);
  expect(performance.now() - began).toBeLessThan(60_000);
  expect(done.out).toContain('Planted against found');
  expect(done.out).not.toMatch(/MISSED|NOT PLANTED|DIFFER/);
  const kinds = done.out.matchAll(/^ {2}\S+ +([a-z_]+) +found/gm);
  expect(new Set([...kinds].map((m) => m[1])).size).toBeGreaterThanOrEqual(8);
  expect(done.out).toMatch(/NGN.*agree/);
  expect(done.out).toMatch(/ZAR.*agree/);
  const paths = done.out
    .split('\n')
    .flatMap((line) => /^ {2}(\/.*\.(?:csv|html|json|xlsx))$/.exec(line)?.[1] ?? []);
  expect(paths.some((path) => path.endsWith('results.csv'))).toBe(true);
  for (const path of paths) expect(existsSync(path), path).toBe(true);
});
