import { join } from 'node:path';
import { expect, it } from 'vitest';
import { batchOf, flat } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

it('a month that is over is closed once, and its files are the same bytes whenever they are written', async () => {
  const home = await makeHome();
  home.put('data/inbox/november.csv', batchOf(3));
  await home.json(['submit'], 0);
  // Lagos, where the reports are, is an hour ahead of UTC.
  const now = new Date(Date.now() + 3_600_000);
  const month = (back: number): string =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 15)).toISOString().slice(0, 7);
  expect(await home.run(['close-period', month(0)])).toMatchObject({
    code: 2,
    err: expect.stringContaining('is not over'),
  });
  const earlier = await home.run(['close-period', month(2)]);
  expect(flat(earlier.out)).toContain('No payout is known of it: this ledger began later.');
  const closed = await home.json(['close-period', month(1)], 0);
  expect(closed).toMatchObject({
    month: month(1),
    statement: [],
    warnings: [expect.stringContaining('so that nothing is compared')],
  });
  const folder = `data/reports/period-${month(1)}`;
  expect(home.names(folder)).toEqual([
    'approvals.csv',
    'open-discrepancies.csv',
    'report.html',
    'report.xlsx',
    'statement-rows.csv',
    'statement.csv',
    'totals-by-column.csv',
  ]);
  const before = home.names(folder).map((name) => home.read(`${folder}/${name}`));
  expect((await home.run(['close-period', month(1)])).code).toBe(2);
  expect((await home.json(['report', month(1)], 0)).files[0]).toContain(folder);
  expect(home.names(folder).map((name) => home.read(`${folder}/${name}`))).toEqual(before);
  expect((await home.run(['report', `period-${month(1)}`])).code).toBe(0);
  expect(home.read('data/reports/index.html')).toContain(`period-${month(1)}/statement.csv`);
  expect((await home.run(['report', '2001-01'])).code).toBe(2);
  expect((await home.run(['report', 'NOPE'])).err).toContain(
    `no run or batch "NOPE" in this ledger: ${join(home.dir, 'data/reports/index.html')} lists them`,
  );
  expect((await home.json(['verify'], 0)).checks).toContainEqual(
    expect.objectContaining({ name: 'periods', ok: true }),
  );
}, 90_000);

it('report RUN --against RUN says which payouts moved, and exits 2 for a run that is not known', async () => {
  const home = await makeHome({ settleMs: 3_600_000 });
  home.put('data/inbox/november.csv', batchOf(2));
  await home.json(['submit'], 0);
  const quiet = { COUNTERFOIL_RECEIVER_ENABLED: 'false' };
  const first = await home.json(['reconcile'], 0, quiet);
  await home.sandbox.settleAll();
  const second = await home.json(['reconcile'], 0, quiet);
  const told = await home.json(['report', second.run, '--against', first.run], 0);
  const settled = told.lines.find(({ line }: { line: string }) => line === 'settled');
  expect(settled).toMatchObject({
    currency: 'NGN',
    was: { count: 0, amount: '0.00' },
    now: { count: 2, amount: '2004.00' },
    difference: { count: 2, amount: '2004.00' },
    moved: [
      { reference: 'PAY-0001', from: 'pending', to: 'success', amount: '1001.50' },
      { reference: 'PAY-0002', from: 'pending', to: 'success', amount: '1002.50' },
    ],
  });
  expect(home.names(`data/reports/reconciliation-${second.run}`)).toContain(`against-${first.run}.csv`);
  const text = await home.run(['report', second.run, '--against', first.run]);
  expect(text.out).toContain('NGN Paid: 0.00 → 2,004.00 (+2,004.00)');
  expect((await home.run(['report', second.run, '--against', '20010101T000000Z'])).code).toBe(2);
  const unknown = await home.run(['report', '20010101T000000Z']);
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('no run 20010101T000000Z in this') });
  const slip = await home.run(['report', `${second.run}-1`]);
  expect(slip).toMatchObject({ code: 2, err: expect.stringContaining(`did you mean ${second.run}?`) });
}, 90_000);
