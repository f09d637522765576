import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { batchOf, csv, type Home, header, type Json, row, sum } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

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
  const status = await home.json(['status'], 4);
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

it('skip_row tells everywhere which rows are left out: before and after, with --quiet, in JSON, and where they are', async () => {
  const home = await makeHome({}, { COUNTERFOIL_INTAKE_ON_INVALID_ROW: 'skip_row' });
  const file = home.put('pay.csv', csv(row(1), row(2, { amount: 'ten' }), row(3)));
  const problems = [expect.objectContaining({ row: 3, column: 'amount' })];
  const checked = await home.json(['check', file], 3);
  expect(checked.files[0]).toMatchObject({ ok: true, rows: 3, skipped: 1, problems });
  const ahead = await home.run(['check', file]);
  expect(ahead).toMatchObject({
    code: 3,
    out: expect.stringMatching(/2 payouts {3}NGN 2,005\.00 .*\n\n {2}1 of its 3 rows would be left out/),
  });
  expect(ahead.out).toMatch(/row 3, column amount/);
  const dry = await home.json(['submit', file, '--dry-run'], 3);
  expect(dry).toMatchObject({ batches: [{ rows: 2, skipped: 1, problems }], refused: [] });
  expect(await home.run(['submit', file, '--dry-run'])).toMatchObject({
    code: 3,
    out: expect.stringMatching(/would take .*\n {2}1 of its 3 rows would be left out/),
  });
  const left = /1 row was left out: 1 problem.*pay\.errors\.csv\. To pay it, correct .*pay\.invalid\.csv/;
  expect(await home.run(['submit', file, '--quiet'])).toMatchObject({
    code: 3,
    out: '',
    err: expect.stringMatching(left),
  });
  const more = home.put('more.csv', csv(row(4), row(5, { amount: '0' })));
  const [batch] = (await home.json(['submit', more], 3)).batches;
  expect(batch).toMatchObject({ rows: 1, skipped: 1, problems: [{ row: 3, column: 'amount' }] });
  expect(batch.errors_file).toMatch(/more\.errors\.csv$/);
  expect(batch.invalid_file).toMatch(/more\.invalid\.csv$/);
  const last = home.put('last.csv', csv(row(6), row(7, { amount: '0' })));
  expect((await home.run(['submit', last])).out).toMatch(/1 row was left out: .*last\.invalid\.csv/);
});

it('a file without a good row is refused whole, whatever on_invalid_row says', async () => {
  const home = await makeHome({}, { COUNTERFOIL_INTAKE_ON_INVALID_ROW: 'skip_row' });
  const file = home.put('pay.csv', csv(row(1, { amount: 'ten' })));
  expect((await home.json(['check', file], 3)).files[0]).toMatchObject({ ok: false, skipped: 0 });
  expect((await home.json(['submit', file, '--dry-run'], 3)).refused).toHaveLength(1);
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

it('control figures without a file are those of the only one in the inbox; with two, or none, nothing is taken', async () => {
  const home = await makeHome();
  home.put('data/inbox/one.csv', batchOf(1));
  home.put('data/inbox/two.csv', batchOf(2, 2));
  const two = await home.run(['submit', '--rows', '1']);
  expect(two).toMatchObject({ code: 2, err: expect.stringMatching(/inbox holds 2 files: name the file/) });
  expect(home.names('data/inbox')).toEqual(['collections', 'one.csv', 'two.csv']);
  rmSync(join(home.dir, 'data/inbox/two.csv'));
  const wrong = await home.json(['submit', '--rows', '5'], 3);
  expect(wrong.refused).toEqual([
    expect.objectContaining({
      problems: [expect.objectContaining({ problem: expect.stringContaining('5 rows') })],
    }),
  ]);
  expect(home.sandbox.requests.posts).toBe(0);
  home.put('data/inbox/one.csv', batchOf(1));
  await home.json(['submit', '--rows', '1', '--total', 'NGN=1001.50'], 0);
  expect(home.sandbox.requests.posts).toBe(1);
  expect((await home.run(['submit', '--total', 'NGN=1001.50'])).err).toMatch(/inbox holds 0 files/);
});

it('a folder of refused files that cannot be written hides no problem, and lets no row be left out (exit 1 alone)', async () => {
  const home = await makeHome();
  const bad = csv(row(1, { amount: '-5' }));
  const blocked = join(home.dir, 'data/rejected');
  rmSync(blocked, { recursive: true, force: true });
  home.put('data/rejected', 'no folder');
  const named = await home.run(['submit', home.put('bad.csv', bad)]);
  expect(named).toMatchObject({
    code: 1,
    err: expect.stringMatching(/row 2, column amount: "-5" has a sign/),
  });
  expect(named.err).toMatch(/its problems are in no file, since .*rejected.* cannot be used \(a file stands/);
  home.put('data/inbox/dropped.csv', bad);
  home.put('data/inbox/collections/due.csv', 'reference,amount,currency\nINV-1,-5,NGN\n');
  const { refused } = await home.json(['submit'], 1);
  expect(refused.map(({ problems, error }: Json) => [problems[0].column, error])).toEqual([
    ['amount', expect.stringContaining('it is still in the inbox')],
    ['amount', expect.stringContaining('it is still in the inbox')],
  ]);
  expect(home.names('data/inbox')).toEqual(['collections', 'dropped.csv']);
  expect((await home.json(['reconcile'], 1)).refused[0].error).toContain('still in the inbox');

  const some = home.put('some.csv', csv(row(1), row(2, { amount: '-5' })));
  const skip = { COUNTERFOIL_INTAKE_ON_INVALID_ROW: 'skip_row' };
  const whole = await home.run(['submit', some], skip);
  expect(whole).toMatchObject({
    code: 1,
    err: expect.stringMatching(/rows with problems cannot be given back/),
  });
  expect(home.sandbox.requests.posts, 'all of it or nothing').toBe(0);
  rmSync(blocked);
  const { batches } = await home.json(['submit', some], 3, skip);
  expect(batches[0]).toMatchObject({ rows: 1, skipped: 1, invalid_file: expect.any(String) });
  expect(home.names('data/rejected')).toEqual(['some.errors.csv', 'some.invalid.csv']);
});

it('--json says how many problems there are where it shows only the first of them (a list cut off in silence)', async () => {
  const home = await makeHome();
  const rows = Array.from({ length: 10_001 }, (_, i) => row(i + 1, { amount: '-5' }));
  const file = home.put('pay.csv', csv(...rows));
  const [checked] = (await home.json(['check', file], 3)).files;
  expect([checked.problems.length, checked.problem_count]).toEqual([10_000, 10_001]);
  for (const more of [[], ['--dry-run']]) {
    const [refused] = (await home.json(['submit', file, ...more], 3)).refused;
    expect([refused.problems.length, refused.problem_count], more.join()).toEqual([10_000, 10_001]);
  }
  expect(home.read('data/rejected/pay.errors.csv').trimEnd().split('\r\n'), 'all of them').toHaveLength(
    10_002,
  );
});
