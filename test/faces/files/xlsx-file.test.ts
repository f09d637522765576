import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import readSheets from 'read-excel-file/node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeWhole } from '../../../src/core/storage/atomic-file.ts';
import { ownColumns, resultColumns, type SheetColumn } from '../../../src/faces/files/workbook/columns.ts';
import { columnName } from '../../../src/faces/files/workbook/sheet-xml.ts';
import { beginWorkbook, writeWorkbook } from '../../../src/faces/files/workbook/xlsx-file.ts';
import { createArchive } from '../../../src/faces/files/workbook/zip-archive.ts';
import { troubleIn } from '../../../src/faces/terminal/discrepancies/workbook-guard.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'xlsx-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (): string => join(folder, 'a.xlsx');
/** The text of a part of the workbook. */
const part = (name: string): string => Buffer.from(unzipSync(readFileSync(file()))[name] ?? []).toString();
const sheet = (): string => part('xl/worksheets/sheet1.xml');

async function write(rows: string[][], kinds: Record<number, SheetColumn> = {}): Promise<unknown[][]> {
  const layout = (header: string[]): SheetColumn[] => header.map((_, at) => kinds[at] ?? { kind: 'text' });
  await writeWorkbook(file(), [{ name: 'results', rows, layout }]);
  return (await readSheets(file(), { trim: false }))[0]?.data ?? [];
}

/** The numbers of the first sheet, each with the format it is shown in. */
function formatted(): string[] {
  const styles = part('xl/styles.xml');
  const codes = new Map(
    [...styles.matchAll(/numFmtId="(\d+)" formatCode="([^"]*)"/g)].map(([, id, code]) => [id, code]),
  );
  const cells = /<cellXfs[^>]*>(.*)<\/cellXfs>/.exec(styles)?.[1] ?? '';
  const used = [...cells.matchAll(/<xf numFmtId="(\d+)"/g)].map(([, id]) => codes.get(id));
  return [...sheet().matchAll(/ s="(\d+)"><v>([^<]*)</g)].map(
    ([, style, value]) => `${value} as ${used[Number(style)]}`,
  );
}

it('keeps account numbers as text and amounts as numbers only while every digit survives', async () => {
  const [, ...read] = await write(
    [
      ['account', 'amount'],
      ['0123456789', '1200.50'],
      ['12', '90071992547409.91'],
      ['x', '90071992547409.92'],
      ['y', '-0.005'],
      ['z', 'not told'],
    ],
    { 1: { kind: 'number' } },
  );
  expect(read).toEqual([
    ['0123456789', 1200.5],
    ['12', 90071992547409.91],
    ['x', '90071992547409.92'],
    ['y', -0.005],
    ['z', 'not told'],
  ]);
  expect(formatted()).toEqual([
    '1200.50 as #,##0.00',
    '90071992547409.91 as #,##0.00',
    '-0.005 as #,##0.000',
  ]);
});

it('shows money with the digits of its currency at least, and counts as they are', async () => {
  const rows = [
    ['currency', 'amount', 'fee', 'age_days'],
    ['NGN', '16.5', '10.755', '3'],
    ['JPY', '100', '7', '4'],
    ['?', '16.5', '7', '5'],
  ];
  await write(rows, { 1: { kind: 'money' }, 2: { kind: 'money' }, 3: { kind: 'number' } });
  expect(formatted()).toEqual([
    ...['16.5 as #,##0.00', '10.755 as #,##0.000', '3 as #,##0'],
    ...['100 as #,##0', '7 as #,##0', '4 as #,##0'],
    ...['16.5 as #,##0.0', '7 as #,##0', '5 as #,##0'],
  ]);
});

it('shows instants and days as dates of their own clock, and leaves other texts alone', async () => {
  const [, ...read] = await write(
    [
      ['paid_at', 'day'],
      ['2026-11-21T13:01:00.000+01:00', '2026-11-21'],
      ['2026-11-21T13:01:30.250Z', 'all'],
      ['1899-01-01T00:00:00.000Z', '2026-11-21 or so'],
    ],
    { 0: { kind: 'time' }, 1: { kind: 'day' } },
  );
  expect(read).toEqual([
    [new Date('2026-11-21T13:01:00.000Z'), new Date('2026-11-21T00:00:00.000Z')],
    [new Date('2026-11-21T13:01:30.250Z'), 'all'],
    ['1899-01-01T00:00:00.000Z', '2026-11-21 or so'],
  ]);
  expect(formatted().map((one) => one.replace(/^.* as /, ''))).toEqual([
    ...['d mmm yyyy hh:mm', 'd mmm yyyy', 'd mmm yyyy hh:mm'],
  ]);
});

it('adds up each currency below the table, exactly, and not where a cell is no number', async () => {
  const money = { kind: 'money', isSummed: true } as const;
  const [, ...read] = await write(
    [
      ['reference', 'currency', 'amount', 'fee'],
      ['R1', 'NGN', '0.10', '1'],
      ['R2', 'JPY', '100', ''],
      ['R3', 'NGN', '0.20', 'free'],
    ],
    { 2: money, 3: money },
  );
  expect(read.slice(3)).toEqual([
    ['Total JPY, 1 row', null, 100, 0],
    ['Total NGN, 2 rows', null, 0.3, null],
  ]);
  expect(sheet()).toContain('<v>0.30</v>');
});

it('filters its rows, and prints across as wide as the page with the header on each one', async () => {
  const money = { kind: 'money', isSummed: true } as const;
  await write(
    [
      ['amount', 'currency'],
      ['1', 'NGN'],
      ['2', 'NGN'],
    ],
    { 0: money },
  );
  expect(sheet()).toContain('<autoFilter ref="A1:B3"/>');
  expect(sheet()).toMatch(
    /<pageSetUpPr fitToPage="1"\/>.*orientation="landscape" fitToWidth="1" fitToHeight="0"/,
  );
  expect(part('xl/workbook.xml')).toContain(
    '<definedName name="_xlnm.Print_Titles" localSheetId="0">\'results\'!$1:$1</definedName>',
  );
});

it('colours a state and leaves its word', async () => {
  await writeWorkbook(file(), [
    {
      name: 'results',
      rows: [
        ['state', 'severity'],
        ['success', 'high'],
        ['odd', ''],
      ],
      layout: (header) => ownColumns(header, false),
    },
  ]);
  const fills = [...part('xl/styles.xml').matchAll(/fgColor rgb="(\w+)"/g)].map(([, colour]) => colour);
  expect(fills).toContain('FFE5F5EC');
  const styleOf = (place: string) => new RegExp(`r="${place}" s="(\\d+)"`).exec(sheet())?.[1];
  expect(new Set(['A2', 'B2', 'A3'].map(styleOf)).size).toBe(3);
  expect(sheet()).toMatch(/success.*high.*odd/);
});

it('gives texts back letter by letter, whatever signs they hold', async () => {
  const texts = [
    '<b>&amp;</b> "quoted" \'single\'',
    ' spaces at both ends ',
    'two\nlines\tand a tab',
    '_x0041_ is no letter A',
    'Adékúnlé Ọ̀ṣọ́ 北京 🦄',
    ']]>',
  ];
  const [, ...read] = await write([['text'], ...texts.map((text) => [text])]);
  expect(read.map(([text]) => text)).toEqual(texts);
  await write([['text'], ['a\u0000b\u0085c\ufffe']]);
  expect(sheet()).toContain('a\ufffdb\ufffdc\ufffd');
});

it('cuts a text at what a cell holds, and leaves empty cells out', async () => {
  const [, read] = await write([
    ['a', 'b', 'c'],
    ['', 'x'.repeat(40_000), 'end'],
  ]);
  expect(read).toEqual([null, 'x'.repeat(32_767), 'end']);
  expect(sheet()).not.toContain('r="A2"');
});

it('freezes the header, and makes columns as wide as their first rows', async () => {
  await write([
    ['a', 'b'],
    ['short', 'x'.repeat(200)],
  ]);
  expect(sheet()).toContain('ySplit="1"');
  expect(sheet()).toMatch(/min="1" max="1" width="6".*min="2" max="2" width="37"/);
});

it('holds many pages of rows on several sheets, in a file that our own reader takes for a workbook', async () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => [`R${n}`, `${n}.50`]);
  await writeWhole(file(), async (to) => {
    const workbook = await beginWorkbook(to, ['First', 'Second & last']);
    // The first sheet may be written last.
    for (const [name, some] of [
      ['Second & last', rows.slice(0, 3)],
      ['First', rows],
    ] as const) {
      const one = await workbook.table(name, (header) => resultColumns(header, header.length));
      await one.add([['reference', 'amount']]);
      for (let at = 0; at < some.length; at += 200) await one.add(some.slice(at, at + 200));
      await one.end();
    }
    await workbook.end();
  });
  expect(troubleIn(readFileSync(file()))).toBeNull();
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  const read = await readSheets(file());
  expect(read.map(({ sheet: name, data }) => [name, data.length])).toEqual([
    ['First', 5_001],
    ['Second & last', 4],
  ]);
  expect(read[0]?.data.at(-1)).toEqual(['R4999', 4999.5]);
});

it('leaves nothing behind when the rows break off half-way, and the old file as it was', async () => {
  await write([['a'], ['old']]);
  const before = readFileSync(file());
  const broken = writeWhole(file(), async (to) => {
    const workbook = await beginWorkbook(to, ['results']);
    const one = await workbook.table('results', () => []);
    await one.add(Array.from({ length: 20_000 }, (_, n) => [`row ${n} ${'x'.repeat(100)}`]));
    throw new Error('disk full');
  });
  await expect(broken).rejects.toThrow('disk full');
  expect(readFileSync(file())).toEqual(before);
  expect(readdirSync(folder)).toEqual(['a.xlsx']);
});

it('gives up when its file can take no more, instead of waiting for ever', async () => {
  const archive = createArchive(() => Promise.reject(new Error('ENOSPC')));
  const one = archive.file('a');
  const text = Array.from({ length: 200_000 }, (_, n) => String(Math.sin(n)));
  await expect(one.add(text).then(() => one.end())).rejects.toThrow('ENOSPC');
  expect(existsSync(file())).toBe(false);
});

it('names columns as spreadsheets do', () => {
  expect([0, 25, 26, 51, 52, 701, 702].map(columnName)).toEqual(['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA']);
});
