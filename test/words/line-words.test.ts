import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { lineWords } from '../../src/words/line-words.ts';

it('names each line of the statement in the documentation as on every page, sheet and screen', () => {
  const page = readFileSync(new URL('../../docs/reports.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('| line | name | holds |');
  const named = [...table.matchAll(/^\| (`.*?) \| (.*?) \|/gm)].flatMap(([, lines = '', names = '']) => {
    const words = names.split(', ');
    const keys = [...lines.matchAll(/`(\w+)`/g)].map(([, key = '']) => key);
    return keys.length === 1 ? [[keys[0], names]] : keys.map((key, index) => [key, words[index]]);
  });
  expect(Object.fromEntries(named)).toEqual(lineWords);
});
