import { describe, expect, it } from 'vitest';
import { batchColours, payoutColours, severityColours } from '../../../../src/faces/terminal/kit/colours.ts';
import { createInk, noPaint } from '../../../../src/faces/terminal/kit/ink.ts';
import { type TerminalColumn, terminalTable } from '../../../../src/faces/terminal/kit/table.ts';
import { terminalOf } from '../../../../src/faces/terminal/kit/terminal.ts';
import { firstOf, groupMessages, rowNumbersText } from '../../../../src/words/row-messages.ts';
import { shortTime } from '../../../../src/words/short-times.ts';
import { verdictWords } from '../../../../src/words/verdict-words.ts';

describe('colours', () => {
  const ink = createInk('3f9a50');

  it('are written only for a stream that is a terminal', () => {
    const text = `${ink.paint('good', 'paid')} and ${ink.paint('bad', 'failed')}`;
    expect(ink.render(text, true)).toBe('\u001b[32mpaid\u001b[39m and \u001b[31mfailed\u001b[39m');
    expect(ink.render(text, false)).toBe('paid and failed');
  });

  it('are green only for what is paid, done or reconciled', () => {
    const verdictColours = Object.entries(verdictWords).map(([verdict, { colour }]) => [verdict, colour]);
    const all = { ...payoutColours, ...batchColours, ...severityColours };
    const green = [...Object.entries(all), ...verdictColours].filter(([, colour]) => colour === 'good');
    expect(green.map(([word]) => word)).toEqual(['success', 'done', 'reconciled']);
  });

  it('cannot be forged by text from a file or the service', () => {
    const forged = '\u001b[32mreconciled\u001b[39m \u0001other32;paid \u202egnp.exe';
    expect(ink.render(forged, true)).toBe(' [32mreconciled [39m  other32;paid  gnp.exe');
    expect(ink.render(ink.paint('bad', '\u001b[8mhidden'), true)).toBe('\u001b[31m [8mhidden\u001b[39m');
  });
});

type Row = { name: string; amount: string; state: string };
const columns: TerminalColumn<Row>[] = [
  { title: 'Reference', cell: ({ name }) => name },
  { title: 'Amount', cell: ({ amount }) => amount, right: true },
  { title: 'State', cell: ({ state }) => ({ text: state, colour: 'good' }), optional: true },
  { title: 'Beneficiary', cell: () => 'Ngozi Okafor-Adichie of Lagos', cut: true },
];

describe('a table', () => {
  const rows: Row[] = [
    { name: 'A-1', amount: 'NGN 1,572,715.00', state: 'success' },
    { name: 'A-22', amount: 'NGN 5.00', state: 'held' },
  ];

  it('aligns its columns, numbers at the right, and ends no line in spaces', () => {
    expect(terminalTable(columns, rows, { width: 80 })).toEqual([
      '  Reference            Amount  State    Beneficiary',
      '  A-1        NGN 1,572,715.00  success  Ngozi Okafor-Adichie of Lagos',
      '  A-22               NGN 5.00  held     Ngozi Okafor-Adichie of Lagos',
    ]);
    expect(terminalTable(columns, [], { width: 80 })).toEqual([]);
  });

  it('leaves out columns that may go, one after the other, until it fits', () => {
    const spare = columns.map((one, at) => (at === 1 || at === 2 ? { ...one, spare: true } : one));
    const first = (width: number) => terminalTable(spare, rows, { width })[1];
    expect(first(80)).toBe('  A-1        NGN 1,572,715.00  success  Ngozi Okafor-Adichie of Lagos');
    expect(first(40)).toBe('  A-1        success  Ngozi Okafor-Adic…');
    expect(first(26)).toBe('  A-1        Ngozi Okafor…');
  });

  it('cuts what may be cut to the width of the terminal, and never a reference or an amount', () => {
    const [, first] = terminalTable(columns, rows, { width: 56 });
    expect(first).toBe('  A-1        NGN 1,572,715.00  success  Ngozi Okafor-Ad…');
    const [, narrow] = terminalTable(columns, rows, { width: 20 });
    expect(narrow).toBe('  A-1        NGN 1,572,715.00  success  Ngozi O…');
  });

  it('leaves out an optional column in which every cell is empty', () => {
    const none = rows.map((row) => ({ ...row, state: '' }));
    expect(terminalTable(columns, none, { width: 80 })[0]).toBe('  Reference            Amount  Beneficiary');
  });

  it('measures wide letters and marks as the terminal shows them, and keeps line ends out of cells', () => {
    const names: TerminalColumn<string>[] = [
      { title: 'Name', cell: (name) => name },
      { title: 'Next', cell: () => '|' },
    ];
    expect(terminalTable(names, ['李小龙', 'Ọláṣubọ̀mí', 'a\nb'], { width: 80 })).toEqual([
      '  Name       Next',
      '  李小龙     |',
      '  Ọláṣubọ̀mí  |',
      '  a b        |',
    ]);
  });

  it('paints cells without counting the colour', () => {
    const paint = (_colour: string, text: string): string => `<${text}>`;
    expect(terminalTable(columns, rows, { width: 80, paint })[2]).toBe(
      '  A-22               NGN 5.00  <held>     Ngozi Okafor-Adichie of Lagos',
    );
  });
});

describe('times', () => {
  it('are short and in the zone of the reports; another year is named', () => {
    const now = '2026-11-23T08:00:00.000Z';
    expect(shortTime('2026-11-22T15:00:00.000Z', 'Africa/Lagos', now)).toBe('22 Nov 16:00');
    expect(shortTime('2026-09-01T23:30:00.000Z', 'Africa/Lagos', now)).toBe('2 Sep 00:30');
    expect(shortTime('2025-12-31T23:30:00.000Z', 'UTC', now)).toBe('31 Dec 2025 23:30');
    expect(shortTime(null, 'UTC', now)).toBe('-');
    expect(shortTime('soon', 'UTC', now)).toBe('soon');
    const { timeWithSeconds } = terminalOf(
      { paint: noPaint, columns: 80 },
      { reports: { timezone: 'Africa/Lagos', bom: true, delimiter: ',', maskAccounts: false, keepDays: 0 } },
      now,
    );
    expect(timeWithSeconds('2026-11-22T14:58:02.700Z')).toBe('22 Nov 15:58:02');
    expect(timeWithSeconds(null)).toBe('-');
  });
});

describe('equal messages', () => {
  it('become one, with the first rows and the number of the others', () => {
    const bad = Array.from({ length: 38 }, (_, i) => ({ row: 4 + i * 5, text: 'a wrong check digit' }));
    const groups = groupMessages([{ row: 2, text: 'a long name' }, ...bad]);
    expect(groups.map(({ text, rows }) => `${rows.length} ${text}: ${rowNumbersText(rows)}`)).toEqual([
      '38 a wrong check digit: rows 4, 9, 14 and 35 more',
      '1 a long name: row 2',
    ]);
  });

  it('name one more instead of counting it', () => {
    expect(firstOf(['A', 'B', 'C', 'D'])).toBe('A, B, C and D');
    expect(firstOf(['A'])).toBe('A');
    expect(firstOf([])).toBe('');
    expect(firstOf(Array.from({ length: 5000 }, () => 'A'))).toBe('A, A, A and 4,997 more');
  });
});
