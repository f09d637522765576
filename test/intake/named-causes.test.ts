import { expect, it } from 'vitest';
import { csv, head, refusal, row, setting } from './setting.ts';

async function checked(content: string, yaml = '') {
  const s = await setting(yaml);
  const found = await s.intake.check(s.drop('november.csv', content));
  const problems = found.problems.map((p) => `row ${p.row} ${p.column} ${p.value} ${p.problem}; ${p.fix}`);
  return { ...found, said: problems };
}

const withColumns = (names: string, values: string): string => `${head},${names}\n${row('A')},${values}\n`;

it('names the columns that are carried and not acted on, and each that orders something by itself', async () => {
  const { ok, warnings } = await checked(
    withColumns('value_date,Department,e-mail,notify', '2026-12-24,Sales,a@example.com,yes'),
  );
  expect(ok).toBe(true);
  expect(warnings).toEqual([
    'column value_date: no date is acted on but pay_on: its rows will be paid at once',
    'column e-mail: nobody is notified: Counterfoil writes to no payee',
    'column notify: nobody is notified: Counterfoil writes to no payee',
    'columns kept for the results, and not acted on: Department',
  ]);
});

it.each([
  ...[
    'pay-on',
    'pay.on',
    'pay_on:',
    'Pay On Date',
    'pay on (date)',
    'pay_0n',
    'pay_οn',
    'рау_оn',
    'PAY ОN',
    'payonn',
    'pay_n',
  ],
  ...['pay on day', 'Páy on'],
])('refuses a column %s, which would pay its rows before their day', async (name) => {
  const { ok, said } = await checked(withColumns(name, '2026-12-24'));
  expect([ok, said]).toEqual([
    false,
    [
      `row 1 pay_on ${name} is nearly pay_on, and would only be kept: nothing is done with a column of that name; rename it to pay_on, or give it quite another name`,
    ],
  ]);
});

it.each(['payees-id', 'payee.id', 'payee_ld', 'Payee ID:', 'payeeid#', 'рayee_id', 'payeid'])(
  'refuses a column %s, which would leave its keys unread',
  async (name) => {
    const { ok, said } = await checked(withColumns(name, 'E1'));
    expect([ok, said]).toEqual([false, [expect.stringContaining('rename it to payee_id')]]);
  },
);

it.each(['Pay On', 'PAYEE ID', 'payor', 'payer_id', 'payee', 'pay_no', 'payin_ref', 'staff id', 'paid'])(
  'takes a column %s, which is another word or ours',
  async (name) => {
    const { problems } = await checked(withColumns(name, name === 'Pay On' ? '2026-11-24' : 'x'));
    expect(problems).toEqual([]);
  },
);

it.each([
  ...[
    'Pay Date',
    'payment_date',
    'due_date',
    'schedule',
    'scheduled_for',
    'send after',
    'due',
    'release_date',
    'date',
  ],
  ...['Date of Payment', 'released on', 'date to pay', 'vаlue date', 'payout-date', 'pay after'],
])('warns that a column %s does not keep its rows from being paid at once', async (name) => {
  const { warnings } = await checked(withColumns(name, '2026-12-24'));
  expect(warnings).toEqual([`column ${name}: no date is acted on but pay_on: its rows will be paid at once`]);
});

it('says the same when the file is taken, and nothing of columns that it wrote into failed.csv itself', async () => {
  const s = await setting();
  const taken = await s.intake.takeIn(s.drop('november.csv', withColumns('due_date', '2026-12-24')), {
    origin: 'inbox',
  });
  expect(taken).toMatchObject({ warnings: [expect.stringContaining('will be paid at once')] });
  const again = await checked(withColumns('retry_of,retry_evidence,reason', ',,'));
  expect(again.warnings).toEqual([]);
});

it('names a header that comes again as that, in place of the problems of its cells', async () => {
  for (const again of [head, head.toUpperCase().replaceAll('_', ' '), head.replace(',sender_name', '')]) {
    const { said } = await checked(csv(row('A-1'), again, row('A-2', '200')));
    expect(said).toEqual([expect.stringContaining('row 3   is the header again and no payout; delete it')]);
  }
});

it('names a TOTAL row as that, in place of the problems of its cells', async () => {
  for (const total of [',,TOTAL,,200.00,NGN,,', 'Grand Total:,,,,200.00,,,', 'TOTAL,200.00']) {
    const { said } = await checked(csv(row('A'), row('B'), total));
    expect(said).toEqual([expect.stringContaining('row 4   is a TOTAL row and no payout; delete it')]);
  }
});

it('pays a payee whose name is Total', async () => {
  const content = csv(row('A').replace('Adaeze Okonkwo', 'Total'));
  expect(await checked(content)).toMatchObject({ ok: true, rows: 1 });
});

it('names a title above the header, with the row of the header', async () => {
  const titled = `Salaries November 2026,,,,,,,\n\n${csv(row('A'))}`;
  const { said, ok } = await checked(titled);
  expect(ok).toBe(false);
  expect(said).toEqual([
    'row 1   a title or other lines above the header, which is in row 3; delete rows 1 to 2',
  ]);
  expect((await checked(`Amount to pay\n${csv(row('A'))}`)).said).toEqual([
    'row 1   a title above the header, which is in row 2; delete row 1',
  ]);
});

it('names near column names with the name to write', async () => {
  const { said } = await checked(
    csv(row('A')).replace(head, 'ref,acct number,Beneficiary,bank,amount,currency,narrations,sender_name'),
  );
  expect(said).toEqual([
    'row 1 reference ref missing: this column may be meant; rename it to reference',
    'row 1 account_number acct number missing: this column may be meant; rename it to account_number',
    'row 1 account_name Beneficiary missing: this column may be meant; rename it to account_name',
    'row 1 bank_code bank missing: this column may be meant; rename it to bank_code',
    'row 1 narration narrations missing: this column may be meant; rename it to narration',
  ]);
  const none = await checked(csv(row('A')).replace(head, 'ref,account_no,name,bank,amt,ccy,memo,sender'));
  expect(none.said).toHaveLength(8);
});

it.each(['3-Nov', '03-Nov', 'Nov-26', '3-Nov-26', '03-Nov-2026', '03/11/2026', '3.11.2026'])(
  'refuses the reference %s, which a spreadsheet made a date',
  async (reference) => {
    const { said } = await checked(csv(row(reference)));
    expect(said).toEqual([
      expect.stringMatching(
        /is a date: a spreadsheet most likely made one of the reference; format the column/,
      ),
    ]);
  },
);

it.each([
  'NOV-26',
  '3-NOV',
  'Nov-1',
  'Nov-261',
  'SAL-3-Nov',
  '3-November',
  '2026-11-03',
  '03-11-2026',
  'Mar-ketA',
  'R-1',
])('takes the ordinary reference %s', async (reference) => {
  expect(await checked(csv(row(reference)))).toMatchObject({ ok: true, problems: [] });
});

it('says how a reference of which a spreadsheet dropped digits is mended', async () => {
  const s = await setting();
  const taken = await s.intake.takeIn(s.drop('n.csv', csv(row('1.23E+11'))), { origin: 'inbox' });
  expect(refusal(taken)).toContain('is in scientific notation: a spreadsheet has dropped digits of it');
});
