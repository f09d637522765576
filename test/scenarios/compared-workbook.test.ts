import { join } from 'node:path';
import readSheets from 'read-excel-file/node';
import { expect, it } from 'vitest';
import { csv, type Home } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

const line = (
  n: number,
  name: string,
  { account = 1_000_000_000 + n, amount = '100.00', month = 'NOV' } = {},
) => `${month}-${n},${account},${name},058,${amount},NGN,Salary,Acme Ltd`;
const before = [line(1, 'Ada Obi'), line(2, 'Bola Eze'), line(3, 'Chidi Musa'), line(4, 'Dayo Bello')];
const now = [
  line(1, 'Ada Obi', { month: 'DEC', account: 2_000_000_009 }),
  line(2, 'Bola Okafor', { month: 'DEC' }),
  line(3, 'Chidi Musa', { month: 'DEC', amount: '350.00' }),
  line(5, 'Emeka Lawal', { month: 'DEC' }),
];

async function secondMonth(settings: Record<string, string> = {}): Promise<unknown[][]> {
  const home: Home = await makeHome({ settleMs: 1 }, settings);
  await home.json(['submit', home.put('november.csv', csv(...before))], 0);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  const { batches } = await home.json(['submit', home.put('december.csv', csv(...now))], 4);
  const sheets = await readSheets(join(home.dir, 'data/reports', batches[0].batch, 'results.xlsx'));
  const found = sheets.find(({ sheet }) => sheet === 'Compared with last time')?.data ?? [];
  return found.map((row) => row.filter((cell) => cell !== null));
}

it('P37: the workbook of a batch says how it differs from last time, each change old and new', async () => {
  const rows = await secondMonth();
  expect(rows[1]?.[0]).toMatch(/^With november-\d{8}-[0-9a-f]{6} of \d{4}-\d\d-\d\d\.$/);
  expect(rows).toEqual(
    expect.arrayContaining([
      ['Joined', 1],
      ['Left', 1],
      ['Account changed', 1],
      ['Name changed', 1],
      ['Amount changed', 1],
      ['Changed amounts in all', 'NGN', 250],
      ['Amount changed by more than half', 1],
      ['Total', 'NGN', 400, 650],
      ['account changed', 'DEC-1', 2, '1000000001', '2000000009'],
      ['name changed', 'DEC-2', 3, 'Bola Eze', 'Bola Okafor'],
      ['amount changed', 'DEC-3', 4, 'NGN 100.00', 'NGN 350.00'],
      ['Emeka Lawal', 'DEC-5', 5, '1000000005', 'NGN 100.00'],
      ['Dayo Bello', 'NOV-4', 5, '1000000004', 'NGN 100.00'],
    ]),
  );
});

it('masks accounts in the comparison where results.csv masks them', async () => {
  const rows = await secondMonth({ COUNTERFOIL_REPORTS_MASK_ACCOUNTS: 'true' });
  expect(rows).toContainEqual(['account changed', 'DEC-1', 2, '******0001', '******0009']);
  expect(JSON.stringify(rows)).not.toMatch(/[12]00000000/);
});
