import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedPages, root } from '../../config/docs/pages.ts';
import { withRegion } from '../../config/docs/region.ts';
import { discrepancyKinds } from '../../src/core/domain/discrepancy-kinds.ts';
import { entryName } from '../../src/faces/terminal/entries/entry.ts';
import { entryGroups } from '../../src/faces/terminal/entries/groups.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('the generated pages', () => {
  it.each([...generatedPages()])('%s is what npm run docs writes', (path, text) => {
    expect(read(path) === text, 'stale: run npm run docs -- --pages').toBe(true);
  });

  it('keep what is written by hand', () => {
    const [begin, end] = ['<!-- made by npm run docs: begin -->', '<!-- made by npm run docs: end -->'];
    expect(withRegion(`a\n${begin}\nold\n${end}\nz`, 'new')).toBe(`a\n${begin}\n\nnew\n\n${end}\nz`);
    expect(() => withRegion('a', 'new')).toThrow('expected');
  });
});

describe('docs/commands.md', () => {
  const sections = read('docs/commands.md')
    .split(/^(?=### )/m)
    .slice(1);
  const verbs = entryGroups.flatMap(([, all]) => all);

  it('has each command of the help with its own example, and no hidden one', () => {
    expect(sections.map((text) => /^### (\S+)/.exec(text)?.[1])).toEqual(verbs.map(entryName));
    for (const [at, { example }] of verbs.entries())
      expect(sections[at]).toContain(`Example: \`${example}\``);
  });
});

describe('docs/discrepancies.md', () => {
  const sections = read('docs/discrepancies.md').split(/^(?=### )/m);

  it.each(discrepancyKinds)('gives %s its meaning, an example and what to do', (kind) => {
    const section = sections.find((text) => text.startsWith(`### ${kind}\n`)) ?? '';
    expect(section).toMatch(/^### \w+\n\n\S[\s\S]*\n\n\*Example\.\* \S[\s\S]*\n\n\*What to do\.\* \S/);
  });
});
