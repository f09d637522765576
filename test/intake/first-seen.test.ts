import { expect, it } from 'vitest';
import { firstSeen } from '../../src/intake/first-seen.ts';

it.each([100_000, 0])(
  'tells the first row of each of 100,000 texts when about %d were expected',
  (expected) => {
    const seen = firstSeen(expected);
    for (let row = 1; row <= 100_000; row++)
      if (seen(`text ${row}`, row) !== null) throw new Error(`row ${row}`);
    for (let row = 1; row <= 100_000; row++)
      if (seen(`text ${row}`, row + 1) !== row) throw new Error(`row ${row}, again`);
  },
);

it('remembers nothing where row 0 only asks', () => {
  const seen = firstSeen();
  expect([seen('Ada', 0), seen('Ada', 2), seen('Ada', 0), seen('Bola', 0)]).toEqual([null, null, 2, null]);
});
