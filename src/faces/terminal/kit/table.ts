import { legible } from '../../../core/domain/hidden.ts';
import { type Colour, noPaint, type Paint } from './ink.ts';
import { textWidth } from './text-width.ts';

/** A cell: its text, and the colour that its meaning has. */
export type TerminalCell = string | { text: string; colour: Colour };

/** A column of a table. References and amounts are never cut, since people copy them. */
export type TerminalColumn<Row> = {
  title: string;
  cell(row: Row): TerminalCell;
  /** Numbers stand at the right. */
  right?: boolean;
  /** May be cut, with an ellipsis, where the table is wider than the terminal. */
  cut?: boolean;
  /** How many characters it keeps at least when it is cut; 8 unless given. */
  least?: number;
  /** Left out of the whole table where every cell is empty. */
  optional?: boolean;
  /** Left out where the table is wider than the terminal: the first of them first, until it fits. */
  spare?: boolean;
};

const indent = '  ';
const gap = '  ';
const usualLeast = 8;

/** The lines of a table, at most `width` characters wide: the titles, then one line a row. Without rows there is no line. */
export function terminalTable<Row>(
  columns: readonly TerminalColumn<Row>[],
  rows: readonly Row[],
  { width, paint = noPaint }: { width: number; paint?: Paint },
): string[] {
  if (rows.length === 0) return [];
  const all = columns.map((column) => ({ column, cells: rows.map((row) => plain(column.cell(row))) }));
  const room = width - indent.length;
  const kept = withoutSpare(
    all
      .filter(({ column, cells }) => !column.optional || cells.some(({ text }) => text !== ''))
      .map(({ column, cells }) => {
        const most = cells.reduce((widest, { text }) => Math.max(widest, textWidth(text)), 0);
        const { title, cut = false, least = usualLeast, spare = false } = column;
        return { column, cells, cut, least, spare, width: Math.max(most, textWidth(title)) };
      }),
    room,
  );
  const widths = widthsWithin(kept, room);
  const line = (cellAt: (index: number) => { text: string; colour?: Colour }): string => {
    const cells = kept.map(({ column }, index) => {
      const { text, colour } = cellAt(index);
      const shown = cutTo(text, widths[index] ?? 0);
      const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - textWidth(shown)));
      const painted = colour ? paint(colour, shown) : shown;
      // Nothing follows the last column, so no line ends in spaces.
      const after = index === kept.length - 1 ? '' : space;
      return column.right ? space + painted : painted + after;
    });
    return (indent + cells.join(gap)).trimEnd();
  };
  return [
    line((index) => ({ text: kept[index]?.column.title ?? '', colour: 'faint' })),
    ...rows.map((_row, at) => line((index) => kept[index]?.cells[at] ?? { text: '' })),
  ];
}

/** Text from outside stays in its cell: no line ends, no tabs. */
function plain(cell: TerminalCell): { text: string; colour?: Colour } {
  const { text, ...rest } = typeof cell === 'string' ? { text: cell } : cell;
  return { ...rest, text: legible(text).replaceAll(/[\n\t]/g, ' ') };
}

type Measured = { width: number; cut: boolean; least: number };

/** Drops columns that may go until the others fit, with those that may be cut at their least. */
function withoutSpare<One extends Measured & { spare: boolean }>(columns: One[], room: number): One[] {
  const narrowest = columns.map(({ width, cut, least }) => (cut ? Math.min(width, least) : width));
  if (sumOf(narrowest) <= room) return columns;
  const at = columns.findIndex(({ spare }) => spare);
  return at === -1 ? columns : withoutSpare(columns.toSpliced(at, 1), room);
}

/** How wide columns of these widths are together. */
function sumOf(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one, 0) + gap.length * (widths.length - 1);
}

/** Makes the columns that may be cut narrower, the widest first, until the table fits. */
function widthsWithin(columns: readonly Measured[], room: number): number[] {
  const widths = columns.map(({ width }) => width);
  const widest = (): number =>
    columns.reduce(
      (best, { cut, least }, index) =>
        cut && (widths[index] ?? 0) > least && (widths[index] ?? 0) > (widths[best] ?? 0) ? index : best,
      -1,
    );
  for (let index = widest(); sumOf(widths) > room && index !== -1; index = widest())
    widths[index] = (widths[index] ?? 0) - 1;
  return widths;
}

/** At most `most` columns of a text; what is cut ends in an ellipsis. */
function cutTo(text: string, most: number): string {
  if (textWidth(text) <= most) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (textWidth(kept + segment) > most - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
