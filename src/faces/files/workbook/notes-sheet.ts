import { cellXml } from './cell-xml.ts';
import { columnName, sheetEnd, sheetStart } from './sheet-xml.ts';
import type { CellLook, Styles } from './styles.ts';
import type { ArchiveFile } from './zip-archive.ts';

/** A cell of a sheet that is read like a page: a text, or a value that looks like something. */
export type Note = string | { text: string; as?: 'number' | 'time'; look?: CellLook; across?: 'right' };

/** The widths of its columns in characters, unless the sheet says others: a label, a currency, a count, an amount, a word, and room for a sentence. */
const usualWidths = [36, 18, 12, 22, 14, 30];
/** The heights of rows that begin with such a cell, in points. Programs do not measure them when they open the file. */
const heights: Partial<Record<CellLook, number>> = { title: 26, heading: 20 };

/** Writes a small sheet row by row. A sentence in the last cell of a row runs on over the empty cells beside it. */
export async function writeNotes(
  file: ArchiveFile,
  rows: Note[][],
  { styles, isFirst, widths = usualWidths }: { styles: Styles; isFirst: boolean; widths?: number[] },
): Promise<void> {
  const xml = rows.map((row, index) => {
    const cells = row.map((note, at) => {
      const cell = typeof note === 'string' ? { text: note } : note;
      return cellXml(`${columnName(at)}${index + 1}`, { as: 'text', ...cell }, styles);
    });
    const [first = ''] = row;
    const height = typeof first === 'string' ? undefined : heights[first.look ?? 'plain'];
    const tall = height === undefined ? '' : ` ht="${height}" customHeight="1"`;
    return `<row r="${index + 1}"${tall}>${cells.join('')}</row>`;
  });
  await file.add([sheetStart(widths, { isFirst, isFrozen: false })]);
  await file.add(xml);
  await file.add([sheetEnd(null)]);
  await file.end();
}
