import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mutate, nameOf } from './mutate.ts';
import { survivors } from './survivors.ts';

it('changes one operator, condition, constant, call or word of SQL at a time, and names it by its place', () => {
  const source = [
    'export const isLate = (a: number): boolean => a > 5 && !isOff;',
    'if (isLate(x ?? 1)) await stop();',
    "db.where('id', '=', id);",
    'sql<number>`a is null and b <= 7`;',
  ].join('\n');
  const { mutants, text } = mutate('src/a.ts', source);
  expect(mutants.map((one) => `${nameOf(one)} ${one.from} → ${one.to}`)).toEqual([
    'src/a.ts:1:1 a > 5 → true',
    'src/a.ts:1:2 a > 5 → a >= 5',
    'src/a.ts:1:3 5 → 5 + 1',
    'src/a.ts:1:4 !isOff → true',
    'src/a.ts:2:1 isLate(x ?? 1) → true',
    'src/a.ts:2:2 isLate(x ?? 1) → false',
    'src/a.ts:2:3 x ?? 1 → x',
    'src/a.ts:2:4 x ?? 1 → 1',
    'src/a.ts:2:5 1 → 1 + 1',
    'src/a.ts:2:6 await stop() → undefined',
    "src/a.ts:3:1 db.where('id', '=', id) → undefined",
    "src/a.ts:3:2 '=' → '!='",
    'src/a.ts:4:1 sql<number>`a is null and b <= 7` → sql<number>`a is null and b < 7`',
    'src/a.ts:4:2 sql<number>`a is null and b <= 7` → sql<number>`a is not null and b <= 7`',
    'src/a.ts:4:3 sql<number>`a is null and b <= 7` → sql<number>`a is null or b <= 7`',
    'src/a.ts:4:4 sql<number>`a is null and b <= 7` → sql<number>`a is null and b <= 8`',
  ]);
  expect(text).toContain("(__mutant(11) ? ('!=') : ('='))");
});

it('still finds each mutant that is named as a survivor, each once', () => {
  const gone = survivors.filter(({ file, from, to }) => {
    const { mutants } = mutate(file, readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
    return !mutants.some((one) => one.from === from && one.to === to);
  });
  expect(gone).toEqual([]);
  const names = survivors.map(({ file, from, to }) => `${file} ${from} → ${to}`);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});
