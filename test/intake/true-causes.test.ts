import { expect, it } from 'vitest';
import { batchOf, csv, head, refusal, row, setting } from './setting.ts';

const good = csv(row('A', '1'), row('B', '2'));

/** Files that look right, what is wrong with each, and the fix. */
const cases: [what: string, content: string | Buffer, said: RegExp][] = [
  ['two byte order marks', `\ufeff\ufeff${good}`, /two byte order marks.*remove one/],
  [
    'a space behind a closing quote',
    good.replace('Salary', '"Rent" '),
    /^row 2 .*between a quote and the delim/,
  ],
  [
    'a space before an opening quote',
    good.replace('Salary', ' "Rent"'),
    /^row 2 .*behind a space at its beg/,
  ],
  [
    'a space behind a quote of the header',
    good.replace('amount,', '"amount" ,'),
    /^row 1 amount .*between a quote/,
  ],
  ['pipes', good.replaceAll(',', '|'), /^row 1 .*separated by \|.*commas/],
  ['a trailing Ctrl-Z', `${good}\u001a`, /^row 4 .*Ctrl-Z.*remove it/],
  ['a Ctrl-Z in the last row', `${good.trimEnd()}\u001a\n`, /^row 3 sender_name .*Ctrl-Z.*remove it/],
  ['a blank first line', `\n${good}`, /^row 1 .*first line is blank.*remove it/],
  ['gzip', Buffer.from('1f8b08000000', 'hex'), /compressed \(gzip\).*gunzip/],
  ['bzip2', 'BZh91AY&SY', /compressed \(bzip2\).*bunzip2/],
  ['xz', Buffer.from('fd377a585a000004', 'hex'), /compressed \(xz\).*unxz/],
  ['Zstandard', Buffer.from('28b52ffd04', 'hex'), /compressed \(Zstandard\).*unzstd/],
  [
    'joined emoji',
    good.replace('Salary', '\u{1f468}\u200d\u{1f469}'),
    /narration .*U\+200D.*remove the emoji/,
  ],
  ['a zero-width space', good.replace('Salary', 'Sal\u200bary'), /narration .*U\+200B.*type the value again/],
  ['a lone selector', good.replace('Salary', 'Salary\ufe0f'), /narration .*U\+FE0F/],
  ['an emoji in a name', good.replace('Adaeze', '\u2764\ufe0f'), /account_name .*U\+FE0F.*remove the emoji/],
  ['1,200 columns', good.replace(head, head + ',x'.repeat(1200)), /^row 1 .*1208 columns; at most 1000/],
];
for (const [what, content, said] of cases)
  it(`refuses ${what} with the true cause`, async () => {
    const s = await setting();
    const { problems } = await s.intake.check(s.drop('one.csv', content));
    const text = refusal(await s.intake.takeIn(s.path('inbox', 'one.csv'), { origin: 'inbox' }));
    expect(text).toMatch(said);
    expect(problems).toHaveLength(1);
  });

it('keeps a line separator in a narration like a line break, and refuses it anywhere else', async () => {
  const s = await setting();
  const content = good.replace('Salary', '"Net\u2028pay\nMay"');
  const { problems } = await s.intake.check(s.drop('names.csv', good.replace('Adaeze ', 'Adaeze\u2028')));
  expect(problems).toMatchObject([{ column: 'account_name', problem: 'holds a line break' }]);
  batchOf(await s.intake.takeIn(s.drop('one.csv', content), { origin: 'inbox' }));
  const { body } = await s.ledger.db.selectFrom('payouts').select('body').executeTakeFirstOrThrow();
  expect(JSON.parse(body)).toMatchObject({ narration: 'Net\u2028pay\nMay' });
});

it('keeps the variation selector behind an emoji of a narration, and refuses it anywhere else', async () => {
  const s = await setting();
  batchOf(
    await s.intake.takeIn(s.drop('one.csv', good.replace('Salary', 'Thanks \u2764\ufe0f')), {
      origin: 'inbox',
    }),
  );
  const { body } = await s.ledger.db.selectFrom('payouts').select('body').executeTakeFirstOrThrow();
  expect(JSON.parse(body)).toMatchObject({ narration: 'Thanks \u2764\ufe0f' });
});

const merged: [what: string, content: string, said: RegExp][] = [
  [
    'three rows in a cell of an extra column',
    [`${head},Note`, `${row('A')},"x`, `${row('B', '2')},y`, `${row('C', '3')},z"`, `${row('D', '4')},`].join(
      '\n',
    ),
    /^row 2 Note .*2 other rows of this file.*remove the quote/m,
  ],
  [
    'a row in the narration of another',
    csv(row('A', '1').replace('Salary,Acme', '"Salary'), row('B', '2').replace('Salary', 'Salary"')),
    /^row 2 narration .*another row of this file/m,
  ],
];
for (const [what, content, said] of merged)
  for (const yaml of ['', 'intake: { on_invalid_row: skip_row }'])
    it(`refuses a file with ${what}${yaml === '' ? '' : ', also with skip_row'}`, async () => {
      const s = await setting(yaml);
      const checked = await s.intake.check(s.drop('one.csv', `${content.trimEnd()}\n`));
      expect([checked.ok, checked.lines]).toEqual([false, content.trimEnd().split('\n').length]);
      expect(refusal(await s.intake.takeIn(s.path('inbox', 'one.csv'), { origin: 'inbox' }))).toMatch(said);
      expect(s.names('rejected')).toContain('one.csv');
    });

it('refuses a line break in every column but the narration, extra ones too, and keeps one there', async () => {
  const s = await setting();
  const extra = `${head},Note\n${row('A')},"two\nlines"\n`;
  expect(refusal(await s.intake.takeIn(s.drop('one.csv', extra), { origin: 'inbox' }))).toMatch(
    /^row 2 Note two\nlines holds a line break; write the value in one line/,
  );
  const kept = csv(row('A').replace('Salary', '"Rent, May,\nlate, 3 days"'));
  expect(await s.intake.check(s.drop('two.csv', kept))).toMatchObject({ ok: true, rows: 1, lines: 3 });
});

it('a file that cannot be read is refused and moved aside, and the good one beside it is taken', async () => {
  const s = await setting('intake: { settle_seconds: 0 }');
  s.drop('a.csv', `${head}\n"x"${','.repeat(3_000_000)}\n`);
  s.drop('b.csv', csv(row('B', '2')));
  expect((await s.intake.takeInbox()).taken).toMatchObject([
    { kind: 'refused', problems: [{ row: 2, problem: 'is longer than 131072 bytes' }] },
    { kind: 'taken', rows: 1 },
  ]);
  expect(s.names('inbox')).toEqual([]);
});

it('whatever is thrown while a file is read refuses that file alone', async () => {
  const s = await setting('intake: { settle_seconds: 0 }');
  s.drop('a.csv', csv(row('A')));
  s.drop('b.csv', csv(row('B', '2')));
  const { open } = await import('node:fs/promises');
  const handle = await open(s.path('inbox', 'a.csv'));
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const { read } = prototype;
  let reads = 0;
  // The disk below one file is damaged: its second piece cannot be read.
  prototype.read = function (...args: unknown[]) {
    reads += 1;
    if (reads === 2) return Promise.reject(Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' }));
    return read.apply(this, args);
  };
  const { taken } = await s.intake.takeInbox().finally(() => {
    prototype.read = read;
  });
  expect(taken).toMatchObject([
    { kind: 'refused', problems: [{ problem: 'it cannot be read: EIO: i/o error, read' }] },
    { kind: 'taken' },
  ]);
});
