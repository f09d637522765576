import { safeCell } from '../../../core/domain/csv-cell.ts';
import { digitsOf, isLongDigits, textXml } from './sheet-xml.ts';
import {
  type Across,
  type CellLook,
  dayFormat,
  numberFormat,
  type Styles,
  textFormat,
  timeFormat,
} from './styles.ts';

/** A cell's value and how it looks. `digits`: at least so many after the point; `across`: how a text stands in its cell. */
export type XmlCell = {
  text: string;
  as: 'text' | 'number' | 'time' | 'day';
  digits?: number;
  look?: CellLook;
  across?: Across;
};

/** The markup of a cell at this place, such as `B2`; empty for an empty text. */
export function cellXml(place: string, cell: XmlCell, styles: Styles): string {
  const rest = restXml(cell, styles);
  return rest === '' ? '' : `<c r="${place}${rest}`;
}

/**
 * The markup of a cell after its place. Cells are text, also long digits; they are numbers and times where they read as
 * such without losing a digit.
 */
export function restXml(cell: XmlCell, styles: Styles): string {
  const { as, text, look = 'plain', across = 'left' } = cell;
  if (text === '') return lined.has(look) ? `" s="${styles.numberOf(look)}"/>` : '';
  if (as === 'number') {
    const own = digitsOf(text);
    if (own !== null) {
      const format = numberFormat(Math.max(own, cell.digits ?? 0));
      return `" s="${styles.numberOf(look, format, 'right')}"><v>${text}</v></c>`;
    }
  }
  if (as === 'time' || as === 'day') {
    const serial = serialOf(text);
    const format = as === 'time' ? timeFormat : dayFormat;
    if (serial !== null) return `" s="${styles.numberOf(look, format)}"><v>${serial}</v></c>`;
  }
  const format = as === 'number' || isLongDigits(text) ? textFormat : '';
  const style = styles.numberOf(look, format, across);
  return `" s="${style}" t="inlineStr"><is>${textXml(safeCell(text))}</is></c>`;
}

/** Looks whose line or background goes through empty cells too. */
const lined = new Set<CellLook>(['header', 'heading', 'total']);

const instant = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d(?:\.\d{1,3})?)(?:Z|[+-]\d\d:\d\d))?$/;
const dayMs = 86_400_000;
/** 1 January 1970 as spreadsheets number days (ECMA-376, 18.17.4.1, the 1900 date base). */
const epochDay = 25_569;
/** Before March 1900 spreadsheets disagree about the day. */
const firstDay = 61;

/** An instant as its clock shows it, or a day, in days since 1900; null for another text. Spreadsheets know no zones. */
function serialOf(text: string): number | null {
  const match = instant.exec(text);
  if (!match) return null;
  const [, day = '', time = '00:00:00'] = match;
  const serial = Date.parse(`${day}T${time}Z`) / dayMs + epochDay;
  return serial >= firstDay ? serial : null;
}
