import { safeCell } from '../../domain/csv-cell.ts';
import { exponentOf } from '../../domain/money.ts';
import { type Write, writeWhole } from '../atomic-file.ts';
import { columnKey, isMoneyColumn } from '../csv-writer.ts';
import {
  type CellStyle,
  columnName,
  digitsOf,
  isLongDigits,
  measured,
  sheetEnd,
  sheetStart,
  textXml,
} from './sheet-xml.ts';
import {
  contentTypes,
  rootRelations,
  sheetPath,
  stylesXml,
  workbookRelations,
  workbookXml,
} from './workbook-parts.ts';
import type { ArchiveFile } from './zip-archive.ts';

/** Beyond this many rows no workbook is written: a spreadsheet takes minutes to open it, and CSV has no such limit. */
export const xlsxRowLimit = 100_000n;

/** What a program opens of a sheet at most (ECMA-376 leaves it open; Excel's limit). */
export const xlsxColumnLimit = 16_384;

/** The most cells that keep a sheet within an archive's size limit, whatever they hold. */
const cellLimit = 20_000_000n;

/** True when this many rows below a header are written as a workbook. Columns beyond the limit are left out. */
export function fitsWorkbook(rows: bigint, columns: number): boolean {
  return rows <= xlsxRowLimit && rows * BigInt(Math.min(columns, xlsxColumnLimit)) <= cellLimit;
}

/** A sheet that is being written: rows come a page at a time, the header first. */
export type SheetWriter = { add(rows: string[][]): Promise<void>; end(): Promise<void> };
/** A workbook that is being written. Its sheets come in the order of its names, each ended before the next begins. */
export type WorkbookWriter = { sheet(numbers: Numbers): Promise<SheetWriter>; end(): Promise<void> };
/** Returns which columns of a sheet hold numbers, by its header. */
export type Numbers = (header: string[]) => Set<number>;

/** One sheet of a workbook: rows with the header first, and which columns hold numbers. */
export type Sheet = { name: string; rows: string[][]; numbers: Set<number> };

/** Writes sheets in this order, headers frozen: the same bytes for the same rows. Whole or not at all. */
export async function writeWorkbook(path: string, sheets: Sheet[]): Promise<void> {
  const names = sheets.map(({ name }) => name);
  await writeWhole(path, async (write) => {
    const workbook = await beginWorkbook(write, names);
    for (const { rows, numbers } of sheets) {
      const sheet = await workbook.sheet(() => numbers);
      await sheet.add(rows);
      await sheet.end();
    }
    await workbook.end();
  });
}

/**
 * Begins a workbook with sheets of these names, and passes it to `write` as it grows. One page is in memory at a time.
 * Cells are text, also long digits; they are numbers where {@link digitsOf} says so.
 */
export async function beginWorkbook(write: Write, names: string[]): Promise<WorkbookWriter> {
  // Commands that only read the ledger need not load the compression library.
  const { createArchive } = await import('./zip-archive.ts');
  const archive = createArchive(write);
  const styles = createStyles();
  const part = async (path: string, text: string): Promise<void> => {
    const file = archive.file(path);
    await file.add([text]);
    await file.end();
  };
  // Programs that guess a file's type by its first entry look for this one.
  await part('[Content_Types].xml', contentTypes(names.length));
  await part('_rels/.rels', rootRelations);
  await part('xl/workbook.xml', workbookXml(names));
  await part('xl/_rels/workbook.xml.rels', workbookRelations(names.length));
  let begun = 0;
  return {
    async sheet(numbers) {
      begun += 1;
      return createSheet(archive.file(sheetPath(begun)), numbers, styles);
    },
    async end() {
      await part('xl/styles.xml', stylesXml(styles.all));
      await archive.end();
    },
  };
}

type Styles = { all: CellStyle[]; ofDigits(digits: number): number };
const [plain, bold, asText] = [0, 1, 2];

/** Numbers the styles: the first three, then numbers by their digits after the point as they are first used. */
function createStyles(): Styles {
  const all: CellStyle[] = ['plain', 'bold', 'text'];
  const byDigits: number[] = [];
  function ofDigits(digits: number): number {
    byDigits[digits] ??= all.push({ digits }) - 1;
    return byDigits[digits];
  }
  return { all, ofDigits };
}

/** Keeps the first rows until the column widths are known; then passes each page on. */
function createSheet(file: ArchiveFile, numbers: Numbers, styles: Styles): SheetWriter {
  let first: string[][] | null = [];
  let toXml: ((rows: string[][]) => Iterable<string>) | null = null;

  async function begin(rows: string[][]): Promise<void> {
    first = null;
    const header = rows[0] ?? [];
    toXml = rowsXml(header, numbers(header), styles);
    await file.add([sheetStart(rows)]);
    await file.add(toXml(rows));
  }

  return {
    async add(rows) {
      if (toXml) return file.add(toXml(rows));
      first = [...(first ?? []), ...rows];
      if (first.length >= measured) await begin(first);
    },
    async end() {
      if (first) await begin(first);
      await file.add([sheetEnd]);
      await file.end();
    },
  };
}

/** Writes rows as markup, numbered from the header, which is row 1 and bold. Empty cells are left out. */
function rowsXml(
  header: string[],
  numbers: Set<number>,
  styles: Styles,
): (rows: string[][]) => Iterable<string> {
  const currencyAt = header.findIndex((name) => columnKey(name) === 'currency');
  const money = header.map((name) => currencyAt !== -1 && isMoneyColumn(name));
  const letters: string[] = [];
  let number = 0;
  // Pieces are joined once a row: adding cell to cell would leave a tree of pieces for each.
  const add = (parts: string[], texts: string[], column: number): void => {
    const text = texts[column] ?? '';
    if (text === '') return;
    letters[column] ??= columnName(column);
    const isNumber = numbers.has(column);
    let digits = isNumber && number > 1 ? digitsOf(text) : null;
    // The service writes 16.5 where its currency has two digits.
    if (digits !== null && money[column]) digits = Math.max(digits, exponentOf(texts[currencyAt] ?? '') ?? 0);
    parts.push('<c r="', letters[column], String(number));
    if (digits !== null) parts.push('" s="', String(styles.ofDigits(digits)), '"><v>', text, '</v></c>');
    else {
      const style = number === 1 ? bold : isNumber || isLongDigits(text) ? asText : plain;
      parts.push(textStart[style] ?? '', textXml(text), '</is></c>');
    }
  };
  // One row at a time, so that its text leaves memory soon.
  return function* (rows) {
    for (const row of rows) {
      number += 1;
      const parts = ['<row r="', String(number), '">'];
      const texts = row.map(safeCell);
      for (let column = 0; column < texts.length; column++) add(parts, texts, column);
      parts.push('</row>');
      yield parts.join('');
    }
  };
}

/** What stands between the place of a text cell and its text, by style. */
const textStart = [plain, bold, asText].map(
  (style) => `${style === plain ? '"' : `" s="${style}"`} t="inlineStr"><is>`,
);
