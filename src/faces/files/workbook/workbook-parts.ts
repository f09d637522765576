import { declaration, escaped, spreadsheetNamespace } from './sheet-xml.ts';

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

/** A sheet's name, at most 31 characters, and for a table the range of its header and rows, such as `$A$1:$C$9`. */
export type SheetEntry = { name: string; table: string | null };

/** Names the sheets in their order; a table repeats its header on each printed page. */
export function workbookXml(entries: SheetEntry[]): string {
  const sheets = entries.map(
    ({ name }, index) => `<sheet name="${quoted(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  );
  const defined = entries.flatMap(({ name, table }, index) => {
    if (table === null) return [];
    const sheet = escaped(`'${name.replaceAll("'", "''")}'!`);
    return [
      `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">${sheet}${table}</definedName>`,
      `<definedName name="_xlnm.Print_Titles" localSheetId="${index}">${sheet}$1:$1</definedName>`,
    ];
  });
  const names = defined.length === 0 ? '' : `<definedNames>${defined.join('')}</definedNames>`;
  return `${declaration}<workbook xmlns="${spreadsheetNamespace}" xmlns:r="${office}"><bookViews><workbookView/></bookViews><sheets>${sheets.join('')}</sheets>${names}</workbook>`;
}

function quoted(text: string): string {
  return escaped(text).replaceAll('"', '&quot;');
}

function numbers(upTo: number): number[] {
  return Array.from({ length: upTo }, (_, index) => index + 1);
}
