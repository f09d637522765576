import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addPayout, columns, makeWorld, type World } from '../../books/support.ts';

const soffice = ['/usr/bin/soffice', '/usr/local/bin/soffice', '/opt/libreoffice/program/soffice'].find(
  existsSync,
);
const missing = soffice === undefined ? ' (skipped: no soffice)' : '';

const batch = 'b-20261121-000001';
/** Each would be a number or an error if a program ran it. */
const hostile = [
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(1,1)',
  ' =1+1',
  '\t=1+1',
  '\r=1+1',
  '＝1+1',
  '＋1+1',
  '－1+1',
  '＠SUM(1)',
  'pay,=1+1',
  'pay;=1+1',
  'pay\n=1+1',
  '"=1+1',
  '","=1+1',
  "'=1+1",
  '=HYPERLINK("http://evil.example","x")',
  "=cmd|' /C calc'!A0",
];
let world: World;
beforeEach(async () => {
  world = await makeWorld();
  for (const [n, text] of hostile.entries())
    await addPayout(world.ledger, `R${n}`, ['ready', 'sending', 'pending', 'success'], {
      cells: JSON.stringify([`R${n}`, '0123456789', text, '058', '-12.50', 'NGN', '00420']),
      message: text,
      fee: '1.005',
      submitted_at: '2026-11-21T12:01:00.000Z',
    });
});
afterEach(() => world.close());

/** What LibreOffice shows of a file's table, opened with this separator. A workbook's first sheet is the summary. */
function shown(path: string, separator = ','): string[][] {
  mkdirSync(world.reports, { recursive: true });
  const folder = mkdtempSync(join(world.reports, 'shown-'));
  const isCsv = path.endsWith('.csv');
  // Cells as shown: what a formula gives, not the formula.
  const out = `csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,${isCsv ? 1 : 2}`;
  convert(path, folder, out, isCsv ? [`--infilter=CSV:${separator.charCodeAt(0)},34,76,1`] : []);
  const [name = ''] = readdirSync(folder);
  return parse(readFileSync(join(folder, name), 'utf8'), {
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
  });
}

function convert(path: string, folder: string, out: string, read: string[] = []): void {
  const profile = `-env:UserInstallation=file://${join(world.reports, 'profile')}`;
  const how = ['--headless', profile, ...read, '--convert-to', out, '--outdir', folder, path];
  execFileSync(soffice ?? '', how, { stdio: 'pipe', timeout: 100_000 });
}

/** How many pages LibreOffice prints a workbook on. */
function pagesOf(path: string): number {
  const folder = mkdtempSync(join(world.reports, 'printed-'));
  convert(path, folder, 'pdf');
  const [name = ''] = readdirSync(folder);
  return readFileSync(join(folder, name), 'latin1').match(/\/Type\s*\/Page[^s]/g)?.length ?? 0;
}

/** A cell that some program made of a formula: what it gives, or that it failed. */
const ran = (rows: string[][]): string[] =>
  rows.flat().filter((cell) => cell === '2' || cell === '0' || /^#|^Err:/.test(cell));

describe.skipIf(soffice === undefined)(`a spreadsheet that opens our files${missing}`, () => {
  it('shows every cell of the workbook as it was written', { timeout: 120_000 }, async () => {
    const { files } = await world.reporting.writeBatchResults(batch);
    const rows = shown(files.find((name) => name.endsWith('.xlsx')) ?? '');
    expect(rows).toHaveLength(hostile.length + 2);
    expect(rows[0]?.slice(0, 7)).toEqual(columns);
    expect(rows[1]?.slice(0, 7)).toEqual(['R0', '0123456789', "'=1+1", '058', '-12.50', 'NGN', '00420']);
    expect(rows[1]?.[10]).toBe('1.005');
    expect(rows[1]?.[12]).toBe('21 Nov 2026 13:01');
    expect(rows.at(-1)?.slice(0, 5)).toEqual(['Total NGN, 19 rows', '', '', '', '-237.50']);
    expect(ran(rows)).toEqual([]);
  });

  it('prints a workbook as wide as the page: its summary, its rows, then its totals', {
    timeout: 120_000,
  }, async () => {
    const { files } = await world.reporting.writeBatchResults(batch);
    expect(pagesOf(files.find((name) => name.endsWith('.xlsx')) ?? '')).toBe(3);
  });

  it('runs no cell of the CSV file, with either separator', { timeout: 120_000 }, async () => {
    const { files } = await world.reporting.writeBatchResults(batch);
    const path = files[0] ?? '';
    const rows = shown(path);
    expect(rows).toHaveLength(hostile.length + 1);
    expect(ran(rows)).toEqual([]);
    expect(Number(rows[1]?.[4])).toBe(-12.5);
    await world.with('{ delimiter: ";" }').writeBatchResults(batch, { force: true });
    expect(ran(shown(path, ';'))).toEqual([]);
  });

  it('would run them, had they not been neutralised', { timeout: 120_000 }, () => {
    const path = join(world.reports, 'bare.csv');
    mkdirSync(world.reports, { recursive: true });
    writeFileSync(path, 'a,b\r\n=1+1,x\r\n');
    expect(ran(shown(path))).toEqual(['2']);
  });
});
