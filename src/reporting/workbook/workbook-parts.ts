import { type CellStyle, declaration, escaped, main } from './sheet-xml.ts';

/** The parts of a workbook beside its sheets (ECMA-376, SpreadsheetML and the packaging conventions). */

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The path of a sheet by its number; the first is 1. */
export const sheetPath = (number: number): string => `xl/worksheets/sheet${number}.xml`;

export function contentTypes(sheets: number): string {
  const overrides = numbers(sheets).map(
    (n) => `<Override PartName="/${sheetPath(n)}" ContentType="${type}.worksheet+xml"/>`,
  );
  return `${declaration}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/>${overrides.join('')}</Types>`;
}

export const rootRelations = relations([['officeDocument', 'xl/workbook.xml']]);

/** The sheets come first, so that their numbers are those of {@link workbookXml}. */
export function workbookRelations(sheets: number): string {
  const all = numbers(sheets).map((n) => ['worksheet', `worksheets/sheet${n}.xml`] as const);
  return relations([...all, ['styles', 'styles.xml']]);
}

function relations(targets: (readonly [string, string])[]): string {
  const all = targets.map(
    ([kind, target], index) =>
      `<Relationship Id="rId${index + 1}" Type="${office}/${kind}" Target="${target}"/>`,
  );
  return `${declaration}<Relationships xmlns="${packages}/relationships">${all.join('')}</Relationships>`;
}

/** Names the sheets in their order; a name has at most 31 characters. */
export function workbookXml(names: string[]): string {
  const sheets = names.map(
    (name, index) =>
      `<sheet name="${escaped(name).replaceAll('"', '&quot;')}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  );
  return `${declaration}<workbook xmlns="${main}" xmlns:r="${office}"><bookViews><workbookView/></bookViews><sheets>${sheets.join('')}</sheets></workbook>`;
}

/** The styles by their numbers. A number keeps the digits after its point. */
export function stylesXml(styles: CellStyle[]): string {
  const formats = styles.flatMap((style, index) =>
    typeof style === 'object'
      ? [`<numFmt numFmtId="${firstFormat + index}" formatCode="${digitsFormat(style.digits)}"/>`]
      : [],
  );
  const cells = styles.map((style, index) => `<xf ${styleOf(style, index)} xfId="0"/>`);
  const numFmts =
    formats.length === 0 ? '' : `<numFmts count="${formats.length}">${formats.join('')}</numFmts>`;
  const font = '<sz val="11"/><name val="Calibri"/><family val="2"/>';
  const plain = 'numFmtId="0" fontId="0" fillId="0" borderId="0"';
  return `${declaration}<styleSheet xmlns="${main}">${numFmts}<fonts count="2"><font>${font}</font><font><b/>${font}</font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf ${plain}/></cellStyleXfs><cellXfs count="${cells.length}">${cells.join('')}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;
}

/** The first number that is free for formats of our own (ECMA-376, 18.8.30). */
const firstFormat = 164;
/** The built-in format of text. */
const asText = 49;

function styleOf(style: CellStyle, index: number): string {
  const rest = 'fillId="0" borderId="0"';
  if (style === 'plain') return `numFmtId="0" fontId="0" ${rest}`;
  if (style === 'bold') return `numFmtId="0" fontId="1" ${rest} applyFont="1"`;
  const format = style === 'text' ? asText : firstFormat + index;
  return `numFmtId="${format}" fontId="0" ${rest} applyNumberFormat="1"`;
}

function digitsFormat(digits: number): string {
  return digits === 0 ? '0' : `0.${'0'.repeat(digits)}`;
}

function numbers(upTo: number): number[] {
  return Array.from({ length: upTo }, (_, index) => index + 1);
}
