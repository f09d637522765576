import { type Write, writeWhole } from '../../../core/storage/atomic-file.ts';
import type { Layout } from './columns.ts';
import { type Note, writeNotes } from './notes-sheet.ts';
import { createStyles } from './styles.ts';
import { createTable, type TableWriter } from './table-sheet.ts';
import {
  contentTypes,
  rootRelations,
  type SheetEntry,
  sheetPath,
  workbookRelations,
  workbookXml,
} from './workbook-parts.ts';

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

/**
 * A workbook that is being written. Each name gets its sheet in any order, each ended before the next begins. `table`: rows
 * come a page at a time, the header first. `notes`: a small sheet to be read like a page.
 */
export type WorkbookWriter = {
  table(name: string, layout: Layout): Promise<TableWriter>;
  notes(name: string, rows: Note[][], widths?: number[]): Promise<void>;
  end(): Promise<void>;
};

/** One table of a workbook: rows with the header first. */
export type Sheet = { name: string; rows: string[][]; layout: Layout };

/** Writes tables in this order: the same bytes for the same rows. Whole or not at all. */
export async function writeWorkbook(path: string, sheets: Sheet[]): Promise<void> {
  const names = sheets.map(({ name }) => name);
  await writeWhole(path, async (write) => {
    const workbook = await beginWorkbook(write, names);
    for (const { name, rows, layout } of sheets) {
      const table = await workbook.table(name, layout);
      await table.add(rows);
      await table.end();
    }
    await workbook.end();
  });
}

/** Begins a workbook with sheets of these names, in their order, and passes it to `write` as it grows. */
export async function beginWorkbook(write: Write, names: string[]): Promise<WorkbookWriter> {
  // Commands that only read the ledger need not load the compression library.
  const { createArchive } = await import('./zip-archive.ts');
  const archive = createArchive(write);
  const styles = createStyles();
  const entries = names.map((name): SheetEntry => ({ name, table: null }));
  const part = async (path: string, text: string): Promise<void> => {
    const file = archive.file(path);
    await file.add([text]);
    await file.end();
  };
  const placeOf = (name: string): number => {
    const place = names.indexOf(name);
    if (place === -1) throw new Error(`no sheet of the name ${name}`);
    return place;
  };
  // Programs that guess a file's type by its first entry look for this one.
  await part('[Content_Types].xml', contentTypes(names.length));
  await part('_rels/.rels', rootRelations);
  await part('xl/_rels/workbook.xml.rels', workbookRelations(names.length));
  return {
    async table(name, layout) {
      const place = placeOf(name);
      return createTable(archive.file(sheetPath(place + 1)), {
        layout,
        styles,
        isFirst: place === 0,
        ended: (range) => (entries[place] = { name, table: range }),
      });
    },
    async notes(name, rows, widths) {
      const place = placeOf(name);
      await writeNotes(archive.file(sheetPath(place + 1)), rows, {
        styles,
        isFirst: place === 0,
        ...(widths && { widths }),
      });
    },
    async end() {
      await part('xl/workbook.xml', workbookXml(entries));
      await part('xl/styles.xml', styles.xml());
      await archive.end();
    },
  };
}
