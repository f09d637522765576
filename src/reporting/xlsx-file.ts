import { whole, writeAtomically } from './atomic-file.ts';
import { safeCells } from './csv-file.ts';

/** Beyond this many rows no workbook is written: the library holds all of it in memory, and CSV has no such limit. */
export const xlsxRowLimit = 100_000n;
/** The longest text of a cell in a workbook (ECMA-376, Excel's limit). */
const longestCell = 32_767;
/** As many rows decide how wide columns are. */
const measured = 1_000;
/** What XML 1.0 cannot carry, and the other control characters with it. */
const notXml = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu;

type Cell =
  | string
  | { value: string; type: StringConstructor; format: '@' }
  | { value: string; type: StringConstructor; fontWeight: 'bold' }
  | { value: number; type: NumberConstructor; format: string };

/** One sheet of a workbook: rows with the header first, and which columns hold numbers. */
export type Sheet = { name: string; rows: string[][]; numbers: Set<number> };

/**
 * Writes one sheet: text cells, long digits kept as text, and numbers only in the columns of `numbers` where every
 * digit survives (below 2^53 units of the last place).
 */
export function writeXlsx(path: string, rows: string[][], numbers: Set<number>): Promise<void> {
  return writeWorkbook(path, [{ name: 'results', rows, numbers }]);
}

/** Writes sheets in this order, cells as {@link writeXlsx} says, headers frozen: the same bytes for the same rows. */
export async function writeWorkbook(path: string, sheets: Sheet[]): Promise<void> {
  const made = sheets.map(({ name, rows, numbers }) => ({
    sheet: name,
    data: cellsOf(rows, numbers),
    stickyRowsCount: 1,
    columns: widths(rows),
  }));
  // Most commands write no workbook: they start sooner without the library.
  const { default: writeExcelFile } = await import('write-excel-file/node');
  const buffer = await writeExcelFile(made).toBuffer();
  await writeAtomically(path, whole(timeless(buffer)));
}

function cellsOf(rows: string[][], numbers: Set<number>): Cell[][] {
  const safe = safeCells(rows[0] ?? []);
  return rows.map((row, index) =>
    safe(row).map((cell, column) =>
      index === 0
        ? { value: xml(cell), type: String, fontWeight: 'bold' }
        : xlsxCell(cell, numbers.has(column)),
    ),
  );
}

/** Widths in characters that show most cells whole; a long text is read in its cell. */
function widths(rows: string[][]): { width: number }[] {
  const longest = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.slice(0, measured).map((row) => row[column]?.length ?? 0)),
  );
  return longest.map((length) => ({ width: Math.min(60, Math.max(8, length + 2)) }));
}

/** One cell: see {@link writeXlsx}. */
export function xlsxCell(text: string, numeric: boolean): Cell {
  const match = numeric ? /^-?(\d+)(?:\.(\d+))?$/.exec(text) : null;
  if (match && BigInt((match[1] ?? '') + (match[2] ?? '')) < 2n ** 53n) {
    const digits = match[2]?.length ?? 0;
    return { value: Number(text), type: Number, format: digits === 0 ? '0' : `0.${'0'.repeat(digits)}` };
  }
  const shown = xml(text);
  return /^\d+$/.test(shown) || numeric ? { value: shown, type: String, format: '@' } : shown;
}

function xml(text: string): string {
  return text.replaceAll(notXml, '\ufffd').slice(0, longestCell);
}

/** The first instant that a zip archive can name (APPNOTE 4.4.6): 1 January 1980. */
const beginning = 0x00_21_00_00;

/** The archive with the same time on each of its files, where the library writes the time of day (APPNOTE 4.3). */
function timeless(zip: Buffer): Buffer {
  const archive = Buffer.from(zip);
  const end = archive.lastIndexOf('PK\u0005\u0006', undefined, 'latin1');
  if (end < 0) throw new Error('the workbook is no zip archive');
  let entry = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    archive.writeUInt32LE(beginning, entry + 12);
    archive.writeUInt32LE(beginning, archive.readUInt32LE(entry + 42) + 10);
    const [name, extra, comment] = [28, 30, 32].map((at) => archive.readUInt16LE(entry + at));
    entry += 46 + (name ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  return archive;
}
