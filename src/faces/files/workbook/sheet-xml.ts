/** The longest text of a cell in a workbook (ECMA-376, Excel's limit). */
const longestCell = 32_767;
/** What XML 1.0 cannot carry, and the other control characters with it. */
const notXml = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu;
/** Matches a text that must be escaped. Most need nothing, and are checked only once. */
const special = /[&<>\p{Cc}\ufffe\uffff]|_x|^ | $/u;
/** Spaces at the ends are kept only when the element says so (XML 1.0, 2.10). */
const edged = /^[ \t\n\r]|[ \t\n\r]$|[\t\n\r]/;
const codes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '_x000D_' };
const digitsOnly = /^\d+$/;
const decimal = /^-?(\d+)(?:\.(\d+))?$/;

/**
 * The digits after a number's point, or null for a cell that stays text: long digits, and numbers that would lose a digit
 * (2^53 units of the last place and above).
 */
export function digitsOf(text: string): number | null {
  const match = decimal.exec(text);
  if (!match) return null;
  const [, whole = '', rest = ''] = match;
  const survives = whole.length + rest.length < 16 || BigInt(whole + rest) < 2n ** 53n;
  return survives ? rest.length : null;
}

/** Digits that a program would read as a number are shown as text. */
export function isLongDigits(text: string): boolean {
  return digitsOnly.test(text);
}

/** What a text cell holds: the element that carries its text. */
export function textXml(text: string): string {
  const cut = text.length > longestCell ? text.slice(0, longestCell) : text;
  if (!special.test(cut)) return `<t>${cut}</t>`;
  const space = edged.test(cut) ? ' xml:space="preserve"' : '';
  return `<t${space}>${escaped(cut)}</t>`;
}

/** Text as XML holds it; `_x0041_` would be read as one letter (ECMA-376, ST_Xstring), so that its first sign is spelled. */
export function escaped(text: string): string {
  return text
    .replaceAll(notXml, '\ufffd')
    .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replaceAll(/[&<>\r]/g, (sign) => codes[sign] ?? sign);
}

/** `A`, `B` … `Z`, `AA`: the letters of a column, the first being 0. */
export function columnName(index: number): string {
  const before = Math.floor(index / 26);
  return (before === 0 ? '' : columnName(before - 1)) + String.fromCharCode(65 + (index % 26));
}

/** The markup before the rows: how the sheet prints and scrolls, and the widths of its columns. `isFirst`: it opens first. */
export function sheetStart(
  widths: number[],
  { isFirst, isFrozen }: { isFirst: boolean; isFrozen: boolean },
): string {
  const columns = widths.map(
    (width, column) => `<col min="${column + 1}" max="${column + 1}" width="${width}" customWidth="1"/>`,
  );
  const cols = columns.length === 0 ? '' : `<cols>${columns.join('')}</cols>`;
  const pane = isFrozen ? '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' : '';
  const view = `<sheetView${isFrozen ? '' : ' showGridLines="0"'}${isFirst ? ' tabSelected="1"' : ''} workbookViewId="0">${pane}</sheetView>`;
  return `${declaration}<worksheet xmlns="${spreadsheetNamespace}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews>${view}</sheetViews>${cols}<sheetData>`;
}

/**
 * The markup after the rows: A4 across, as wide as the page, pages numbered. `filtered`: the range that has a filter, such
 * as `A1:C9`, and as many pages as it needs; null: one page.
 */
export function sheetEnd(filtered: string | null): string {
  const filter = filtered === null ? '' : `<autoFilter ref="${filtered}"/>`;
  const pages = filtered === null ? 1 : 0;
  const margins = '<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.6" header="0.3" footer="0.3"/>';
  const setup = `<pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="${pages}"/>`;
  const footer =
    '<headerFooter scaleWithDoc="0"><oddFooter>&amp;L&amp;A&amp;RPage &amp;P of &amp;N</oddFooter></headerFooter>';
  return `</sheetData>${filter}${margins}${setup}${footer}</worksheet>`;
}

export const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
export const spreadsheetNamespace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
