import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../config/docs/pages.ts';

const rows = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.split('|').map((cell) => cell.trim()));
const terms = rows.map(([, term = '']) => term);
const names = rows.map(([, , , name = '']) => name.replaceAll('`', ''));

it('the glossary has at most 45 terms, in order, each with a meaning and a name of its own in the code', () => {
  expect(terms.length).toBeLessThanOrEqual(45);
  expect(terms).toEqual(terms.toSorted());
  expect(new Set(names).size).toBe(terms.length);
  for (const [, term, meaning] of rows) expect(meaning, term).toMatch(/\w/);
});

it('each name in the glossary is exported once (a reader who searches for it finds what it means)', () => {
  const exported = ['src', 'jobs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => {
        const text = readFileSync(join(root, folder, path), 'utf8');
        return [...text.matchAll(/^export (?:async )?(?:function\*?|const|class|type) (\w+)/gm)];
      })
      .map(([, name]) => name),
  );
  const times = names.map((name) => [name, exported.filter((one) => one === name).length]);
  expect(times.filter(([, n]) => n !== 1)).toEqual([]);
});
