import { expect, it } from 'vitest';
import { batchOf, csv, type Home, header, makeHome, row, sum } from '../support/cli.ts';

type Problem = { row: number; column: string; value: string; problem: string; fix: string };

/** Checks, submits by name and drops: exit 3 each time, nothing recorded, nothing sent. Returns the problems. */
async function refused(home: Home, content: string | Buffer): Promise<Problem[]> {
  const file = home.put('bad.csv', content);
  const checked = await home.json(['check', file], 3);
  expect(checked.files[0]).toMatchObject({ file, ok: false });
  const named = await home.json(['submit', file], 3);
  expect(named).toMatchObject({ batches: [], refused: [{ file }] });
  const problems: Problem[] = named.refused[0].problems;
  expect(problems).toEqual(checked.files[0].problems);
  home.put('data/inbox/dropped.csv', content);
  const plain = await home.run(['submit']);
  expect(plain.code, plain.err).toBe(3);
  for (const { problem } of problems) expect(plain.err + plain.out).toContain(problem);
  expect(home.names('data/inbox')).toEqual(['collections']);
  expect(home.names('data/rejected')).toEqual(expect.arrayContaining(['dropped.csv', 'dropped.errors.csv']));
  expect(home.read('data/rejected/dropped.errors.csv').replace('\ufeff', '')).toMatch(
    /^row,column,value,problem,fix\r\n/,
  );
  const status = await home.json(['status'], 0);
  expect(sum(status.payouts)).toBe(0);
  expect(status.batches).toEqual([]);
  expect(home.sandbox.requests.posts).toBe(0);
  for (const { problem, fix } of problems)
    expect(problem !== '' && fix !== '', JSON.stringify(problems)).toBe(true);
  return problems;
}

const cases: [what: string, content: string | Buffer, expected: Partial<Problem> | RegExp][] = [
  ['an unknown column set', 'name,sum\nAda,5\n', /reference|header/],
  ['a missing header', `${row(1)}\n${row(2)}\n`, /header/],
  [
    'an amount 1,000.50',
    csv(row(1), row(2, { amount: '"1,000.50"' })),
    { row: 3, column: 'amount', value: '1,000.50' },
  ],
  [
    'an account 1.23E+09',
    csv(row(1, { account: '1.23E+09' })),
    { row: 2, column: 'account_number', value: '1.23E+09' },
  ],
  [
    'a repeated reference',
    csv(row(1), row(2, { reference: 'pay-0001' })),
    { row: 3, column: 'reference', value: 'pay-0001' },
  ],
  ['an empty file', '', /empty/],
  [
    'a binary file',
    Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 255, 254, 0, 10, 0]),
    /text|binary|NUL|UTF-8/,
  ],
  ['a header without rows', `${header}\n`, /no rows/],
];

for (const [what, content, expected] of cases) {
  it(`refuses ${what} in a clear sentence, exit 3; nothing recorded, nothing sent`, async () => {
    const problems = await refused(await makeHome(), content);
    if (expected instanceof RegExp) expect(JSON.stringify(problems)).toMatch(expected);
    else expect(problems).toContainEqual(expect.objectContaining(expected));
  });
}

it('refuses a file above max_bytes unread', async () => {
  const home = await makeHome({}, { COUNTERFOIL_INTAKE_MAX_BYTES: '200' });
  expect(JSON.stringify(await refused(home, batchOf(5)))).toContain('200');
});

it('reports every problem of every row at once', async () => {
  const home = await makeHome();
  const problems = await refused(
    home,
    csv(
      row(1, { amount: '0' }),
      row(2, { amount: '10.005' }),
      row(3, { account: '12345' }),
      'bad ref,1000000009,,058,-5,XYZ,Salary,Acme Ltd',
    ),
  );
  const found = problems.map((p) => `${p.row} ${p.column}`);
  expect(found).toEqual(
    expect.arrayContaining([
      '2 amount',
      '3 amount',
      '4 account_number',
      '5 reference',
      '5 account_name',
      '5 currency',
    ]),
  );
  const sheet = home.read('data/rejected/dropped.errors.csv').trimEnd().split('\r\n');
  expect(sheet).toHaveLength(problems.length + 1);
});

it('skip_row takes the good rows, leaves the bad ones in NAME.invalid.csv, and exits 3', async () => {
  const home = await makeHome({}, { COUNTERFOIL_INTAKE_ON_INVALID_ROW: 'skip_row' });
  home.put('data/inbox/pay.csv', csv(row(1), row(2, { amount: '"1,000.50"' }), row(3)));
  const sent = await home.json(['submit'], 3);
  expect(sent.batches[0]).toMatchObject({ rows: 2, payouts: { pending: 2 } });
  expect(home.names('data/rejected')).toEqual(['pay.errors.csv', 'pay.invalid.csv']);
  const invalid = home.read('data/rejected/pay.invalid.csv').replace('\ufeff', '').trimEnd().split('\r\n');
  expect(invalid).toEqual([header, row(2, { amount: '"1,000.50"' })]);
  expect(home.sandbox.requests.posts).toBe(2);
  home.put('data/inbox/mended.csv', `${invalid.join('\n').replace('"1,000.50"', '1000.50')}\n`);
  expect((await home.json(['submit'], 0)).batches).toContainEqual(expect.objectContaining({ rows: 1 }));
  expect(home.sandbox.requests.bodies('PAY-0002')).toBe(1);
});

it('a file that is not there is one clear line', async () => {
  const home = await makeHome();
  const done = await home.run(['submit', 'nowhere.csv']);
  expect([1, 2, 3]).toContain(done.code);
  expect(done.err).toContain('nowhere.csv');
  expect(done.err).not.toMatch(/\n\s+at /);
});

it('one bad file among good ones: the good are sent, exit 3', async () => {
  const home = await makeHome();
  home.put('data/inbox/a.csv', csv(row(1)));
  home.put('data/inbox/b.csv', csv(row(2, { amount: 'ten' })));
  const sent = await home.json(['submit'], 3);
  expect(sent.batches).toHaveLength(1);
  expect(sent.refused).toHaveLength(1);
  expect(home.sandbox.requests.posts).toBe(1);
});
