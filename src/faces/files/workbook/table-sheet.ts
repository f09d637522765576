import { reportColumnKey } from '../../../books/column-kinds.ts';
import { exponentOf } from '../../../core/domain/money.ts';
import { restXml, type XmlCell } from './cell-xml.ts';
import type { Layout, SheetColumn } from './columns.ts';
import { columnName, sheetEnd, sheetStart } from './sheet-xml.ts';
import type { CellLook, Styles } from './styles.ts';
import { createTotals } from './totals.ts';
import type { ArchiveFile } from './zip-archive.ts';

/** A table that is being written: rows come a page at a time, the header first. */
export type TableWriter = { add(rows: string[][]): Promise<void>; end(): Promise<void> };

/** The height of a line in points, and the most lines that a row shows. */
const [lineHeight, mostLines] = [15, 12];

type Table = {
  layout: Layout;
  styles: Styles;
  isFirst: boolean;
  /** Called with the range of the header and its rows, such as `$A$1:$C$9`. */
  ended: (range: string) => void;
};

const measured = 1_000;
/** No column is wider, in characters: a longer text is broken into lines, a sentence at a greater width. */
const [widest, widestSentence, sentence] = [24, 36, 100];

/**
 * Writes a table: header and first rows wait until the column widths are known, then each page is passed on. Below the rows
 * stand the totals of its summed columns, outside the filter.
 */
export function createTable(file: ArchiveFile, { layout, styles, isFirst, ended }: Table): TableWriter {
  let first: string[][] | null = [];
  let rows: ReturnType<typeof createRows> | null = null;

  async function begin(some: string[][]): Promise<ReturnType<typeof createRows>> {
    first = null;
    const header = some[0] ?? [];
    const columns = layout(header);
    const lengths = header.map((name, at) => lengthOf(name, columns[at], some, at));
    rows = createRows({
      header,
      columns,
      styles,
      wraps: lengths.map((length, at) =>
        length > widest && columns[at]?.kind === 'text' ? widthOf(length) : null,
      ),
    });
    const widths = lengths.map((length) => widthOf(length) + 1);
    await file.add([sheetStart(widths, { isFirst, isFrozen: true })]);
    await file.add(rows.xml(some));
    return rows;
  }

  return {
    async add(some) {
      if (rows) return file.add(rows.xml(some));
      first = [...(first ?? []), ...some];
      if (first.length >= measured) await begin(first);
    },
    async end() {
      const { totals, last } = rows ?? (await begin(first ?? []));
      await file.add(totals());
      const { column, row } = last();
      await file.add([sheetEnd(`A1:${column}${row}`)]);
      await file.end();
      ended(`$A$1:$${column}$${row}`);
    },
  };
}

function widthOf(length: number): number {
  return Math.min(length > sentence ? widestSentence : widest, length);
}

/** The longest cell of a column in characters, as shown; the header has the filter's button beside it. */
function lengthOf(name: string, column: SheetColumn | undefined, rows: string[][], at: number): number {
  const header = name.length + 2;
  if (column?.kind === 'time') return Math.max(header, 17);
  if (column?.kind === 'day') return Math.max(header, 11);
  const lengths = rows.slice(1, measured).map((row) => {
    const text = row[at] ?? '';
    // Grouping adds a sign for three digits, and a total may be longer than its parts.
    return column?.kind === 'text'
      ? text.length
      : Math.ceil((text.length * 4) / 3) + (column?.isSummed ? 2 : 0);
  });
  return Math.max(header, ...lengths);
}

/** `wraps`: the width of each column whose texts are broken into lines. */
type Rows = { header: string[]; columns: SheetColumn[]; styles: Styles; wraps: (number | null)[] };

/** The markup of a cell of this column up to the number of its row. */
const beginOf = (index: number): string => `<c r="${columnName(index)}`;

/** Writes rows as markup, numbered from the header, which is row 1. Empty cells are left out. */
function createRows({ header, columns, styles, wraps }: Rows) {
  const currencyAt = header.findIndex((name) => reportColumnKey(name) === 'currency');
  const begins = header.map((_, index) => beginOf(index));
  const sums = createTotals(header, columns);
  const wrapped = wraps.flatMap((width, at) => (width === null ? [] : [at]));
  /** The cell above in each column, and what its markup depends on: most cells repeat it. */
  const above: { text: string; currency: string | undefined; xml: string }[] = [];
  let number = 0;
  let tableRows = 0;

  function shown(text: string, at: number, texts: string[], whole: CellLook | undefined): XmlCell {
    const column = columns[at];
    if (whole === 'header') {
      const isNumber = column?.kind === 'money' || column?.kind === 'number';
      return { text, as: 'text', look: 'header', across: isNumber ? 'right' : 'left' };
    }
    const look = whole ?? column?.look?.(text) ?? 'plain';
    switch (column?.kind) {
      case 'money': {
        // The service writes 16.5 where its currency has two digits.
        const digits = currencyAt === -1 ? 0 : (exponentOf(texts[currencyAt] ?? '') ?? 0);
        return { text, as: 'number', digits, look };
      }
      case 'number':
        return { text, as: 'number', look };
      case 'time':
      case 'day':
        return { text, as: column.kind, look };
      default:
        return {
          text,
          as: 'text',
          look,
          across: (wraps[at] ?? null) !== null && whole === undefined ? 'wrapped' : 'left',
        };
    }
  }

  function repeatedXml(row: string[], at: number, text: string): string {
    if (text === '') return '';
    const currency = row[currencyAt];
    const last = above[at];
    if (last?.text === text && last.currency === currency) return last.xml;
    const xml = restXml(shown(text, at, row, undefined), styles);
    above[at] = { text, currency, xml };
    return xml;
  }

  /** How many lines its longest broken text needs, about. Programs do not measure it when they open the file. */
  function linesOf(row: string[]): number {
    let lines = 1;
    for (const at of wrapped) {
      const text = row[at] ?? '';
      const width = wraps[at] ?? widest;
      if (text.length > width) lines = Math.max(lines, Math.ceil((text.length * 1.1) / width));
    }
    return lines;
  }

  function rowXml(row: string[], whole?: CellLook): string {
    number += 1;
    const rowNumber = String(number);
    // Pieces are joined once a row: adding cell to cell would leave a tree of pieces for each.
    const lines = whole === undefined ? linesOf(row) : 1;
    const tall = lines > 1 ? ` ht="${Math.min(lines, mostLines) * lineHeight}"` : '';
    const parts = [`<row r="${rowNumber}"${tall}>`];
    row.forEach((text, at) => {
      const rest =
        whole === undefined ? repeatedXml(row, at, text) : restXml(shown(text, at, row, whole), styles);
      if (rest !== '') parts.push(begins[at] ?? beginOf(at), rowNumber, rest);
    });
    parts.push('</row>');
    return parts.join('');
  }

  return {
    /** One row at a time, so that its text leaves memory soon. */
    *xml(some: string[][]): Generator<string> {
      for (const row of some) {
        if (number > 0) sums.add(row);
        yield rowXml(row, number === 0 ? 'header' : undefined);
      }
    },
    totals: (): string[] => {
      tableRows = number;
      return sums.rows().map((row) => rowXml(row, 'total'));
    },
    last: () => ({ column: columnName(Math.max(0, header.length - 1)), row: Math.max(1, tableRows) }),
  };
}
