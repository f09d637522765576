import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { batchesShape, payoutsShape } from '../../../../src/core/shapes/list-shapes.ts';
import { batchOf, csv, type Home, row } from '../../../support/cli.ts';
import { agree, failed, makeHome } from '../../../support/decided.ts';
import { inShell } from '../completion/shells.ts';

/** Two batches: PAY-0001 to PAY-0003, then one in ZAR and one that is larger. */
async function twoBatches(): Promise<Home> {
  const home = await makeHome();
  await home.json(['submit', '--no-wait', home.put('november.csv', batchOf(3))], 0);
  const zar = row(11).replace('NGN', 'ZAR');
  const large = row(12, { amount: '1572715.00', reference: 'Bonus-0012' });
  await home.json(['submit', '--no-wait', home.put('bonus.csv', csv(zar, large))], 0);
  return home;
}

it('lists payouts, the newest first, in lines that fit 80 columns, with totals and the next step', async () => {
  const home = await twoBatches();
  const { code, out } = await home.run(['payouts']);
  expect(code).toBe(0);
  expect(out.replaceAll(/\d+ \w{3} \d\d:\d\d/g, '22 Nov 16:00').split('\n')).toEqual([
    '  Reference   State            Amount  Beneficiary          Changed',
    '  Bonus-0012  ready  NGN 1,572,715.00  Adaeze Okonkwo  22 Nov 16:00',
    '  PAY-0011    ready      ZAR 1,011.50  Adaeze Okonkwo  22 Nov 16:00',
    '  PAY-0003    ready      NGN 1,003.50  Adaeze Okonkwo  22 Nov 16:00',
    '  PAY-0002    ready      NGN 1,002.50  Adaeze Okonkwo  22 Nov 16:00',
    '  PAY-0001    ready      NGN 1,001.50  Adaeze Okonkwo  22 Nov 16:00',
    '',
    '  Total  Payouts        Amount',
    '  NGN          4  1,575,722.50',
    '  ZAR          1      1,011.50',
    '',
    'Next: counterfoil show Bonus-0012',
    '',
  ]);
});

it('narrows the list, and its totals are of all that match, listed or not', async () => {
  const home = await twoBatches();
  const list = async (...args: string[]) =>
    payoutsShape.loose().parse(await home.json(['payouts', ...args], 0));
  const names = async (...args: string[]): Promise<string[]> =>
    (await list(...args)).payouts.map(({ reference }) => reference);
  const first = await list('--limit', '2', '--batch', 'november');
  expect(first).toMatchObject({
    payouts: [{ reference: 'PAY-0003', row: 4, amount: '1003.50' }, { reference: 'PAY-0002' }],
    matching: 3,
    totals: { NGN: { count: 3, amount: '3007.50', states: { ready: { count: 3, amount: '3007.50' } } } },
  });
  expect(await names('--currency', 'zar')).toEqual(['PAY-0011']);
  expect(await names('--reference', 'bonus')).toEqual(['Bonus-0012']);
  expect(await names('--state', 'failed')).toEqual([]);
  expect(await names('--state', 'waiting'), 'the word of show and the dashboard').toHaveLength(5);
  expect(await names('--since', '2020-01-01')).toHaveLength(5);
  expect(await names('--since', '2999-01-01T10:00')).toEqual([]);
  expect((await home.run(['payouts', '--state', 'failed'])).out).toBe('no payouts match\n');
  const cut = await home.run(['payouts', '--limit', '2']);
  expect(cut.out).toContain('… and 3 older payouts: --limit 5 lists all');
});

it('counts a payment that was ordered again as taken in when it was ordered', async () => {
  const { home } = await failed();
  await agree(home, 0, 'PAY-0001', '--no-wait');
  const again = payoutsShape.loose().parse(await home.json(['payouts', '--reference', 'PAY-0001-'], 0))
    .payouts[0];
  const since = again?.taken_in_at ?? '';
  const { payouts } = await home.json(['payouts', '--since', since], 0);
  expect(payouts.map((one: { reference: string }) => one.reference)).toEqual([again?.reference]);
});

it('masks account numbers, unless it is told to show them', async () => {
  const home = await twoBatches();
  const account = async (...args: string[]): Promise<string> =>
    (await home.json(['payouts', '--reference', 'PAY-0001', ...args], 0)).payouts[0].account_number;
  expect(await account()).toBe('******0001');
  expect(await account('--full-accounts')).toBe('1000000001');
  expect((await home.run(['payouts'])).out).not.toContain('1000000001');
  expect((await home.run(['payouts', '--full-accounts'])).out).toContain('1000000001');
  expect((await home.run(['payouts', '--csv'])).out).not.toContain('1000000001');
});

it('writes CSV as the reports do: CRLF, plain decimals, times with their zone, no formulas', async () => {
  const home = await makeHome();
  const evil = row(1).replace('Adaeze Okonkwo', '"=HYPERLINK(""x"")"');
  await home.json(['submit', '--no-wait', home.put('pay.csv', csv(evil, row(2)))], 0);
  const { code, out } = await home.start(['payouts', '--csv']).done;
  expect(code).toBe(0);
  expect(out.startsWith('\ufeffreference,state,currency,amount,')).toBe(true);
  expect(out.split('\r\n')).toHaveLength(4);
  const [second, first]: Record<string, string>[] = parse(out, { bom: true, columns: true });
  expect(second).toMatchObject({ reference: 'PAY-0002', amount: '1002.50', row: '3' });
  expect(second?.taken_in_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+01:00$/);
  expect(first?.account_name).toBe(`'=HYPERLINK("x")`);
  const limited = await home.run(['payouts', '--csv', '--limit', '1']);
  expect(limited.out.split('\r\n')).toHaveLength(3);
});

it('ends quietly when nobody reads on', async () => {
  const home = await makeHome();
  await home.json(['submit', '--no-wait', home.put('pay.csv', batchOf(3000))], 0);
  const [first, ...others] = inShell(
    home,
    'bash',
    'set -o pipefail; counterfoil payouts --csv --limit 3000 | head -n 1; echo $?',
  );
  expect(first).toContain('reference,state');
  expect(others).toEqual(['0']);
});

it('refuses what it does not understand, with the nearest name', async () => {
  const home = await makeHome();
  for (const [args, problem] of [
    [['--state', 'faild'], 'there is no state "faild"; did you mean failed?'],
    [['--currency', 'naira'], '--currency: expected a currency of ISO 4217 such as NGN, got "naira"'],
    [['--since', 'yesterday'], '--since: expected a day or a time such as 2026-11-22'],
    [['--since', '2026-02-31'], '--since: expected a day or a time'],
    [['--limit', '0'], '--limit: expected a whole number above zero, got "0"'],
    [['--json', '--csv'], 'name --json or --csv, not both'],
  ] as const) {
    const { code, err, out } = await home.run(['payouts', ...args]);
    expect([code, err + out], args.join(' ')).toEqual([2, expect.stringContaining(problem)]);
  }
});

it('lists batches with what is paid and what is open', async () => {
  const home = await twoBatches();
  const listed = batchesShape.loose().parse(await home.json(['batches'], 0));
  const [bonus, november] = listed.batches;
  expect(bonus).toMatchObject({
    file: 'bonus.csv',
    state: 'ready',
    rows: 2,
    payouts: { ready: 2 },
    totals: { NGN: '1572715.00', ZAR: '1011.50' },
    paid: { NGN: { count: 0, amount: '0.00' }, ZAR: { count: 0, amount: '0.00' } },
    open: { NGN: { count: 1, amount: '1572715.00' }, ZAR: { count: 1, amount: '1011.50' } },
  });
  const { out } = await home.run(['batches']);
  const lines = out.split('\n');
  expect(lines.slice(0, 4)).toEqual([
    '  Batch                     State  Rows              Total  Paid          Open',
    `  ${bonus?.batch}     ready     2  NGN  1,572,715.00  0.00  1,572,715.00`,
    '                                         ZAR      1,011.50  0.00      1,011.50',
    `  ${november?.batch}  ready     3  NGN      3,007.50  0.00      3,007.50`,
  ]);
  expect(lines.at(-2)).toBe(`Next: counterfoil payouts --batch ${bonus?.batch}`);
});

it('counts a failed payout as neither paid nor open, and its second payment as open', async () => {
  const { home } = await failed();
  const open = async () => batchesShape.loose().parse(await home.json(['batches'], 0)).batches[0];
  expect(await open()).toMatchObject({
    totals: { NGN: '1001.50' },
    paid: { NGN: { count: 0 } },
    open: { NGN: { count: 0 } },
  });
  await agree(home, 0, 'PAY-0001', '--no-wait');
  expect(await open()).toMatchObject({
    totals: { NGN: '1001.50' },
    open: { NGN: { count: 1, amount: '1001.50' } },
  });
});

it('neither list makes a ledger', async () => {
  const home = await makeHome();
  for (const command of ['payouts', 'batches']) {
    const { code, out } = await home.run([command]);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^no (payouts match|batches: nothing was taken in yet)/),
    ]);
    expect(existsSync(join(home.dir, 'data/ledger.db'))).toBe(false);
  }
  const wrong = await home.run(['payouts', '--data', join(home.dir, 'nowhere')]);
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('no ledger in')]);
});
