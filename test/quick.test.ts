import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The texts of the files that `npm test` runs. */
const quick = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.slow.test.ts'))
  .map((name) => ({ name, text: readFileSync(join(root, 'test', name), 'utf8') }));

/** The rules of docs/protocol.md, each with the title of the test that it names. */
function rules(): string[] {
  const page = readFileSync(join(root, 'docs/protocol.md'), 'utf8').replaceAll(/\s+/g, ' ');
  return [...page.matchAll(/\*\*(P\d+)\. .*?\*Test: "([^"]+)"/g)].map(
    ([, rule, title]) => `${rule}: ${title}`,
  );
}

it('npm test runs the test that the protocol names for each rule', () => {
  expect(rules()).toHaveLength(39);
  const missing = rules().filter((title) => !quick.some(({ text }) => text.includes(title)));
  expect(missing).toEqual([]);
});

it('npm test runs a test of every room', () => {
  const foldersIn = (path: string): string[] =>
    readdirSync(join(root, path), { withFileTypes: true })
      .filter((one) => one.isDirectory())
      .map(({ name }) => `${path}${name}/`);
  const wings = ['src/core/', 'src/watching/', 'src/faces/'];
  const rooms = [
    ...foldersIn('src/').filter((name) => !wings.includes(name)),
    ...wings.flatMap(foldersIn),
    'jobs/',
  ];
  const tests = (room: string): boolean =>
    quick.some(({ name, text }) => `src/${name}`.startsWith(room) || text.includes(`../${room}`));
  expect(rooms.length).toBeGreaterThan(20);
  expect(rooms.filter((room) => !tests(room))).toEqual([]);
});
