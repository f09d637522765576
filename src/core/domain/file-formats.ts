/** What tells a kind of file. `begins`: its first bytes, which `start` holds as Latin-1. */
type Format = {
  /** In messages. */
  name: string;
  /** The endings of its names, in lower case. */
  endings: readonly string[];
  begins(start: string): boolean;
};

type ReadFormat = Format & {
  /** The types of a request's body that is such a file, the usual one first. */
  mediaTypes: readonly [string, ...string[]];
  /** Whether it is made of lines, with a delimiter. One without a line end at its end may be cut. */
  isText: boolean;
};

/** The formats in which people hand in rows: `intake/read.ts` has the reader of each. */
export const formatNames = ['csv'] as const;
export type FormatName = (typeof formatNames)[number];

/** A file that begins like no format, ours or foreign, is CSV. */
export const formats: Record<FormatName, ReadFormat> = {
  csv: {
    name: 'CSV',
    endings: ['.csv'],
    begins: () => false,
    mediaTypes: ['text/csv', 'application/csv'],
    isText: true,
  },
};

/** Formats that are refused with a hint how to save the file. The first that fits counts. */
export const foreignFormats: readonly Format[] = [
  {
    name: 'an OpenDocument spreadsheet (.ods)',
    endings: ['.ods', '.fods'],
    begins: (start) => isZip(start, 'opendocument.spreadsheet'),
  },
  {
    name: 'an Excel workbook (.xlsx)',
    endings: ['.xlsx', '.xlsm', '.xlsb'],
    begins: (start) => isZip(start, '[Content_Types].xml') || isZip(start, 'xl/'),
  },
  { name: 'a Numbers spreadsheet', endings: ['.numbers'], begins: (start) => isZip(start, 'Index/') },
  { name: 'a spreadsheet workbook or a zip', endings: [], begins: isZip },
  {
    name: 'an old or encrypted Excel workbook (.xls)',
    endings: ['.xls'],
    begins: (start) => start.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
  },
  { name: 'a PDF document', endings: [], begins: (start) => start.startsWith('%PDF') },
  { name: 'a text document (RTF)', endings: [], begins: (start) => start.startsWith('{\\rtf') },
  {
    name: 'a web page or XML, as some programs export',
    endings: [],
    begins: (start) => /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|table|\?xml|meta)/i.test(start),
  },
];

/** Whether a file begins like a zip archive, and holds this text near its beginning. */
export function isZip(start: string, part = ''): boolean {
  return start.startsWith('PK\u0003\u0004') && start.includes(part);
}

const read = Object.values(formats);

/** Match the ending of a name: of a format that is read, of one made of lines, of one that is refused, and of any. */
export const readEnding = endingIn(read);
export const textEnding = endingIn(read.filter(({ isText }) => isText));
export const foreignEnding = endingIn(foreignFormats);
export const knownEnding = endingIn([...read, ...foreignFormats]);

function endingIn(some: readonly Format[]): RegExp {
  const endings = some.flatMap((one) => one.endings.map((ending) => ending.slice(1)));
  return new RegExp(`\\.(?:${endings.join('|')})$`, 'i');
}

/** The ending under which a file is kept; one without an ending is taken for CSV. */
export function endingOf(name: string): string {
  return readEnding.exec(name)?.[0].toLowerCase() ?? foreignEnding.exec(name)?.[0] ?? '.csv';
}

/** The types of a body that is a file of rows: all, and the usual one of each format. */
export const mediaTypes = read.flatMap((one) => one.mediaTypes);
export const usualTypes = read.map((one) => one.mediaTypes[0]);

/** The formats that are read, in messages: their names, and the endings that a name may have. */
export const readNames = read.map(({ name }) => name).join(' or ');
export const readEndings = read.flatMap(({ endings }) => endings).join(' or ');
