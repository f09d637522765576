import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = import.meta.dirname;

/** The rules of the money protocol that a test's title begins with, such as `P7: …`. */
function rulesTested(): Set<number> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.test.ts'),
  );
  const titles = files.flatMap((file) => [
    ...readFileSync(join(root, file), 'utf8').matchAll(/['"`]P(\d+): /g),
  ]);
  return new Set(titles.map(([, number]) => Number(number)));
}

it('every rule of the money protocol has a test named after it', () => {
  const tested = rulesTested();
  const rules = Array.from({ length: 35 }, (_, i) => i + 1);
  expect(rules.filter((rule) => !tested.has(rule))).toEqual([]);
});
