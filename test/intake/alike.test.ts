import { expect, it } from 'vitest';
import { csv, row, setting } from './setting.ts';

it('holds a file of thousands of equal payments without weighing each against each', async () => {
  const s = await setting();
  const rows = Array.from({ length: 6000 }, (_, i) => row(`R-${i}`));
  const taken = await s.intake.takeIn(s.drop('pay.csv', csv(...rows)), { origin: 'inbox' });
  expect(taken).toMatchObject({
    kind: 'taken',
    rows: 6000,
    holdReasons: [
      expect.stringContaining('row 3 has the account, currency and amount of row 2, and 5998 more'),
    ],
  });
});
