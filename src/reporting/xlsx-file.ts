import writeExcelFile from 'write-excel-file/node';
import { whole, writeAtomically } from './atomic-file.ts';
import { safeCells } from './csv-file.ts';

/** Beyond this many rows no workbook is written: the library holds all of it in memory, and CSV has no such limit. */
export const xlsxRowLimit = 100_000n;
/** The longest text of a cell in a workbook (ECMA-376, Excel's limit). */
const longestCell = 32_767;
/** What XML 1.0 cannot carry, and the other control characters with it. */
const notXml = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu;

type Cell =
  | string
  | { value: string; type: StringConstructor; format: '@' }
  | { value: number; type: NumberConstructor; format: string };

/**
 * Writes one sheet: text cells, long digits kept as text, and numbers only in the columns of `numbers` where every
 * digit survives (below 2^53 units of the last place).
 */
export async function writeXlsx(path: string, rows: string[][], numbers: Set<number>): Promise<void> {
  const safe = safeCells(rows[0] ?? []);
  const sheet = rows.map((row, index) =>
    safe(row).map((cell, column) => xlsxCell(cell, index > 0 && numbers.has(column))),
  );
  const buffer = await writeExcelFile(sheet, { sheet: 'results', stickyRowsCount: 1 }).toBuffer();
  await writeAtomically(path, whole(buffer));
}

/** One cell: see {@link writeXlsx}. */
export function xlsxCell(text: string, numeric: boolean): Cell {
  const match = numeric ? /^-?(\d+)(?:\.(\d+))?$/.exec(text) : null;
  if (match && BigInt((match[1] ?? '') + (match[2] ?? '')) < 2n ** 53n) {
    const digits = match[2]?.length ?? 0;
    return { value: Number(text), type: Number, format: digits === 0 ? '0' : `0.${'0'.repeat(digits)}` };
  }
  const shown = text.replaceAll(notXml, '\ufffd').slice(0, longestCell);
  return /^\d+$/.test(shown) || numeric ? { value: shown, type: String, format: '@' } : shown;
}
