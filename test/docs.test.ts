import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

function filesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));
}

const pages = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...filesIn('src', /README\.md$/),
  ...filesIn('docs', /\.md$/),
  'config/deploy/README.md',
];
const sources = ['src', 'jobs', 'test', 'config'].flatMap((folder) => filesIn(folder, /\.(ts|js)$/));
const protocol = read('docs/protocol.md');

/** The heading's anchor as code hosts make it: lower case, punctuation dropped, spaces as hyphens. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    (title ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );
}

describe('the documentation', () => {
  it.each(pages)('%s links only to what exists', (path) => {
    const links = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? '');
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    const broken = local.filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('declares each name where docs/architecture.md places it', () => {
    const page = read('docs/architecture.md').split('## Where a change goes')[1] ?? '';
    const placed = [...page.matchAll(/((?:`\w+`(?:, | and )?)+) in `([\w./-]+\/[\w.-]+\.ts)`/g)];
    expect(placed.length).toBeGreaterThan(20);
    const missing = placed.flatMap(([, names = '', file = '']) => {
      const path = sources.find((one) => one === file || one === `src/${file}`);
      const text = path === undefined ? '' : read(path);
      return [...names.matchAll(/`(\w+)`/g)].flatMap(([, name = '']) => {
        const declared = new RegExp(
          String.raw`\b(?:function\*?|const|type) ${name}\b|^ +${name}\??[:(]`,
          'm',
        );
        return declared.test(text) ? [] : [`${name} in ${file}`];
      });
    });
    expect(missing).toEqual([]);
  });

  it('defines every rule that code, tests and pages cite', () => {
    const defined = new Set([...protocol.matchAll(/^\*\*P(\d+)\. /gm)].map(([, number]) => number));
    expect(defined.size).toBe(39);
    const undefinedIn = [...sources, ...pages].flatMap((path) =>
      [...read(path).matchAll(/\bP(\d+)\b(?=[,.):; ]|$)/gm)]
        .filter(([, number]) => Number(number) <= 99 && !defined.has(number))
        .map(([rule]) => `${path} cites ${rule}`),
    );
    expect(undefinedIn).toEqual([]);
  });

  it('names a test that exists for every rule', () => {
    const titles = sources.filter((path) => path.endsWith('.test.ts')).map(read);
    const rules = protocol.split(/^(?=\*\*P\d+\. )/m).filter((part) => part.startsWith('**P'));
    const unproven = rules.flatMap((rule) => {
      const number = /^\*\*P(\d+)/.exec(rule)?.[1];
      const title = /\*Test:\s+"([^"]+)"/.exec(rule.replace(/\s+/g, ' '))?.[1];
      if (title === undefined) return [`P${number} names no test`];
      return titles.some((text) => text.includes(`P${number}: ${title}`)) ? [] : [`P${number}: ${title}`];
    });
    expect(unproven).toEqual([]);
  });

  it('has every page that a comment cites', () => {
    const missing = sources.flatMap((path) =>
      [...read(path).matchAll(/\bdocs\/[a-z0-9/-]+\.md\b/g)]
        .filter(([page]) => !existsSync(join(root, page)))
        .map(([page]) => `${path} cites ${page}`),
    );
    expect(missing).toEqual([]);
  });

  it('keeps the README short enough to read', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(200);
  });
});
