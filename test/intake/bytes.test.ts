import { expect, it } from 'vitest';
import { csv, head, refusal, row, setting } from './setting.ts';

const good = csv(row('A', '1'), row('B', '2'));
const menus = /Excel: .*LibreOffice: .*Google Sheets: /;

const wide = (text: string, unit: 2 | 4, little: boolean): Buffer => {
  const bytes = Buffer.alloc(text.length * unit);
  for (let i = 0; i < text.length; i++) bytes[i * unit + (little ? 0 : unit - 1)] = text.codePointAt(i) ?? 0;
  return bytes;
};
const zip = (first: string): Buffer => Buffer.from(`PK\u0003\u0004${'\0'.repeat(26)}${first}rest`, 'latin1');

const same: [string, string | Buffer][] = [
  ['a byte order mark', `\ufeff${good}`],
  ['CRLF', good.replaceAll('\n', '\r\n')],
  ['CR', good.replaceAll('\n', '\r')],
  ['mixed line ends', good.replace('\n', '\r\n')],
  ['no line end after the last row', good.trimEnd()],
  ['every value in quotes', good.replace(/[^,\n]+/g, '"$&"')],
];
for (const [what, content] of same)
  it(`P23: reads a file with ${what} as the same content`, async () => {
    const s = await setting();
    const { contentHash } = await s.intake.check(s.drop('plain.csv', good));
    const checked = await s.intake.check(s.drop('other.csv', content));
    const same = 'row 3: pays the account of row 2 too';
    const cut = what.startsWith('no line end') ? [expect.stringContaining('no line end')] : [];
    const warnings = [same, ...cut];
    expect(checked).toMatchObject({ ok: true, rows: 2, totals: { NGN: '3.00' }, warnings, contentHash });
  });

const others: [what: string, content: string | Buffer, said: RegExp][] = [
  ['UTF-16 with its mark', Buffer.from(`\ufeff${good}`, 'utf16le'), /^row 0 .*is UTF-16, not UTF-8/],
  ['UTF-16 without its mark', wide(good, 2, true), /UTF-16 without a byte order mark/],
  ['big-endian UTF-16', Buffer.concat([Buffer.from([0xfe, 0xff]), wide(good, 2, false)]), /is UTF-16/],
  ['big-endian UTF-16 without its mark', wide(good, 2, false), /UTF-16 without a byte order mark/],
  ['UTF-32', Buffer.concat([Buffer.from([0xff, 0xfe, 0, 0]), wide(good, 4, true)]), /is UTF-32/],
  ['Windows-1252', Buffer.from(good.replace('Adaeze', 'José'), 'latin1'), /^row 2 .*byte 0xE9.*Windows-1252/],
  ['an Excel workbook', zip('[Content_Types].xml'), /Excel workbook \(\.xlsx\), not CSV/],
  ['an OpenDocument spreadsheet', zip('mimetypeapplication/vnd.oasis.opendocument.spreadsheet'), /\.ods/],
  ['a Numbers spreadsheet', zip('Index/Document.iwa'), /Numbers spreadsheet/],
  ['an old Excel workbook', Buffer.from('d0cf11e0a1b11ae10000', 'hex'), /old or encrypted Excel workbook/],
  ['a web page', '<html><table><tr><td>1</td></tr></table></html>', /web page or XML/],
  ['a PDF', '%PDF-1.7\n', /PDF document/],
  ['a NUL in a row', good.replace('Salary', 'Sal\0ary'), /^row 2 .*NUL byte/],
];
for (const [what, content, said] of others)
  it(`refuses ${what}, says what was seen and how to save it right`, async () => {
    const s = await setting();
    const { problems } = await s.intake.check(s.drop('one.csv', content));
    expect(problems).toHaveLength(1);
    const text = refusal(await s.intake.takeIn(s.path('inbox', 'one.csv'), { origin: 'inbox' }));
    expect(text).toMatch(said);
    expect(text).toMatch(menus);
  });

it('names the row of the first bad byte also behind quoted line feeds and far into the file', async () => {
  const rows = Array.from({ length: 9000 }, (_, i) =>
    row(`R${i}`, String(i + 1)).replace('Salary', '"in\ntwo lines"'),
  );
  const content = Buffer.from(csv(...rows));
  content[content.indexOf('R8000,') + 30] = 0xe9;
  const s = await setting();
  const { problems } = await s.intake.check(s.drop('one.csv', content));
  expect(problems).toEqual([
    expect.objectContaining({ row: 8002, problem: expect.stringContaining('0xE9') }),
  ]);
});

it('refuses what an upload reserved and did not fill, wherever it stopped', async () => {
  const s = await setting();
  const bytes = Buffer.from(good);
  for (const stop of [0, 20, head.length + 1, head.length + 30, bytes.length - 1, bytes.length]) {
    const reserved = Buffer.concat([bytes.subarray(0, stop), Buffer.alloc(500)]);
    const checked = await s.intake.check(s.drop('one.csv', reserved));
    expect(checked.problems.at(-1)?.problem, `stopped at ${stop}`).toMatch(
      /ends in NUL bytes: its upload has/,
    );
  }
});

it('tells the problems of the rows before the one that cannot be read', async () => {
  const s = await setting();
  const content = csv(
    row('A', '-1'),
    row('B', '2'),
    row('C', '3').replace('Adaeze', 'Ada"eze'),
    row('D', '0'),
  );
  const { problems } = await s.intake.check(s.drop('one.csv', content));
  expect(problems.map(({ row: at, column }) => `${at} ${column}`).toSorted()).toEqual(['2 amount', '4 ']);
});

it('P23: never calls a file taken before whose broken part is what a taken batch lacks', async () => {
  const s = await setting();
  await s.intake.takeIn(s.drop('one.csv', good), { origin: 'inbox' });
  const said = refusal(
    await s.intake.takeIn(s.drop('two.csv', `${good}C,0123456785\n`), { origin: 'inbox' }),
  );
  expect(said).toContain('row 4   has 2 cells');
  expect(said).not.toContain('already taken');
});

it('keeps line ends whole that two reads share', async () => {
  const s = await setting();
  for (let shift = 0; shift < 4; shift++) {
    const filler = row('A').length + head.length + 4;
    const first = row('A').replace('Salary', 'x'.repeat(100_000 + shift));
    const second = row('B', '2').replace('Salary', 'y'.repeat(262_144 - 200_000 - filler));
    const third = row('C', '3').replace('Salary', 'z'.repeat(100_000));
    const content = `${[head, first, third, second, row('D', '4'), row('E', '5')].join('\r\n')}\r\n`;
    expect(await s.intake.check(s.drop('one.csv', content))).toMatchObject({ ok: true, rows: 5 });
  }
});
