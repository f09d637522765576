import { declaration, escaped, spreadsheetNamespace } from './sheet-xml.ts';

/** How a cell looks, beside the format of its value. */
export type CellLook =
  | 'plain'
  | 'header'
  | 'total'
  | 'title'
  | 'heading'
  | 'soft'
  | 'good'
  | 'bad'
  | 'warn'
  | 'none';

/** A font, and where the look has them a background and a line above or below. Colours are ARGB. */
type Drawing = { font: string; fill?: string; edge?: 'top' | 'bottom' };
const looks: Record<CellLook, Drawing> = {
  plain: { font: '' },
  header: { font: '<b/>', fill: 'FFE3E8EE', edge: 'bottom' },
  total: { font: '<b/>', edge: 'top' },
  title: { font: '<b/><sz val="16"/>' },
  heading: { font: '<b/><sz val="12"/>', edge: 'bottom' },
  soft: { font: '<color rgb="FF5B6876"/>' },
  good: { font: '<b/><color rgb="FF0B6B43"/>', fill: 'FFE5F5EC' },
  bad: { font: '<b/><color rgb="FFB3261E"/>', fill: 'FFFDECEA' },
  warn: { font: '<b/><color rgb="FF8A5A00"/>', fill: 'FFFFF4DD' },
  none: { font: '<color rgb="FF4A5563"/>', fill: 'FFECEFF3' },
};
const names = Object.keys(looks);
const drawings = Object.values(looks);

/** `format` is a format code of SpreadsheetML: empty for none, `@` for text. */
type CellStyle = { look: CellLook; format: string; across: Across };
/** How a text stands in its cell: `right` like a number, `wrapped` broken into lines. */
export type Across = 'left' | 'right' | 'wrapped';
const alignments: Record<Across, string> = {
  left: '',
  right: ' horizontal="right" indent="1"',
  wrapped: ' wrapText="1"',
};

/** The format of a number with this many digits after its point. */
export function numberFormat(digits: number): string {
  return digits === 0 ? '#,##0' : `#,##0.${'0'.repeat(digits)}`;
}

export const textFormat = '@';
export const timeFormat = 'd mmm yyyy hh:mm';
export const dayFormat = 'd mmm yyyy';

/** The styles of one workbook, numbered as they are first used. */
export type Styles = { numberOf(look: CellLook, format?: string, across?: Across): number; xml(): string };

export function createStyles(): Styles {
  const all: CellStyle[] = [];
  const known = new Map<string, number>();
  function numberOf(look: CellLook, format = '', across: Across = 'left'): number {
    const key = `${look} ${across} ${format}`;
    // The first style is the default of every cell, and stays as programs expect it.
    const number = known.get(key) ?? all.push({ look, format, across });
    known.set(key, number);
    return number;
  }
  return { numberOf, xml: () => stylesXml(all) };
}

/** The first number that is free for formats of our own (ECMA-376, 18.8.30). */
const firstFormat = 164;
const asText = 49;
/** The two fills that every workbook begins with (ECMA-376, 18.8.21). */
const givenFills = ['none', 'gray125'].map((type) => `<fill><patternFill patternType="${type}"/></fill>`);

function stylesXml(all: CellStyle[]): string {
  const codes = [...new Set(all.map(({ format }) => format))].filter(
    (code) => code !== '' && code !== textFormat,
  );
  const idOf = (code: string): number => {
    if (code === '') return 0;
    return code === textFormat ? asText : firstFormat + codes.indexOf(code);
  };
  const formats = codes.map((code) => `<numFmt numFmtId="${idOf(code)}" formatCode="${escaped(code)}"/>`);
  const cells = all.map(({ look, format, across }) => {
    const { fill, edge } = looks[look];
    const place = names.indexOf(look);
    const parts = `numFmtId="${idOf(format)}" fontId="${place}" fillId="${fill === undefined ? 0 : givenFills.length + place}" borderId="${edge === undefined ? 0 : 1 + place}"`;
    const applied = 'applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1"';
    const alignment = `<alignment vertical="top"${alignments[across]}/>`;
    return `<xf ${parts} xfId="0" ${applied} applyAlignment="1">${alignment}</xf>`;
  });
  const fonts = drawings.map(({ font }) => `<font>${fontOf(font)}</font>`);
  const fills = drawings.map(({ fill = 'FFFFFFFF' }) => {
    return `<fill><patternFill patternType="solid"><fgColor rgb="${fill}"/><bgColor indexed="64"/></patternFill></fill>`;
  });
  const borders = drawings.map(({ edge }) => borderXml(edge));
  const plain = 'numFmtId="0" fontId="0" fillId="0" borderId="0"';
  return `${declaration}<styleSheet xmlns="${spreadsheetNamespace}">${part('numFmts', formats)}${part('fonts', fonts)}${part('fills', [...givenFills, ...fills])}${part('borders', [borderXml(), ...borders])}<cellStyleXfs count="1"><xf ${plain}/></cellStyleXfs>${part('cellXfs', [`<xf ${plain} xfId="0"/>`, ...cells])}<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;
}

/** The parts of a font in the order that the format asks for: bold, size, colour, name. */
function fontOf(font: string): string {
  const of = (element: RegExp, other = ''): string => element.exec(font)?.[0] ?? other;
  const size = of(/<sz [^>]*>/, '<sz val="11"/>');
  return `${of(/<b\/>/)}${size}${of(/<color [^>]*>/)}<name val="Calibri"/><family val="2"/>`;
}

function borderXml(edge?: 'top' | 'bottom'): string {
  const side = (name: string): string =>
    name === edge ? `<${name} style="thin"><color rgb="FF8A97A5"/></${name}>` : `<${name}/>`;
  return `<border>${['left', 'right', 'top', 'bottom', 'diagonal'].map(side).join('')}</border>`;
}

function part(name: string, all: string[]): string {
  return all.length === 0 ? '' : `<${name} count="${all.length}">${all.join('')}</${name}>`;
}
