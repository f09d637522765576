import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { saveAsCsv } from '../core/domain/save-as.ts';

/** The endings of spreadsheets. Such a file is refused with a hint how to save it as CSV. */
export const spreadsheetEnding = /\.(xlsx|xlsm|xlsb|xls|ods|fods|numbers)$/i;

const zipParts = [
  ['opendocument.spreadsheet', 'an OpenDocument spreadsheet (.ods)'],
  ['[Content_Types].xml', 'an Excel workbook (.xlsx)'],
  ['xl/', 'an Excel workbook (.xlsx)'],
  ['Index/', 'a Numbers spreadsheet'],
] as const;
const openings: readonly (readonly [signature: string, what: string])[] = [
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'an old or encrypted Excel workbook (.xls)'],
  ['%PDF', 'a PDF document'],
  ['{\\rtf', 'a text document (RTF)'],
];

/** Compressed formats, and the tool that unpacks each. */
const packed: readonly (readonly [signature: string, what: string, tool: string])[] = [
  ['\x1f\x8b', 'gzip', 'gunzip'],
  ['BZh', 'bzip2', 'bunzip2'],
  ['\xfd7zXZ\0', 'xz', 'unxz'],
  ['\x28\xb5\x2f\xfd', 'Zstandard', 'unzstd'],
];

/**
 * Recognises by its first bytes a file that is not CSV in UTF-8, and returns the problem that refuses it;
 * else null.
 */
export function notCsv(head: Buffer): Problem | null {
  const text = head.toString('latin1');
  if (text.startsWith('PK\u0003\u0004')) {
    const kind = zipParts.find(([part]) => text.includes(part))?.[1] ?? 'a spreadsheet workbook or a zip';
    return wholeFile(`the file is ${kind}, not CSV, whatever its name ends in`, saveAsCsv);
  }
  const pack = packed.find(([signature]) => text.startsWith(signature));
  if (pack) {
    const [, what, tool] = pack;
    const fix = `unpack it with ${tool} (rename it first, so that its name ends as ${what} files do), and give the CSV file inside`;
    return wholeFile(`the file is compressed (${what}), not CSV`, fix);
  }
  if (text.startsWith('\xef\xbb\xbf\xef\xbb\xbf'))
    return wholeFile(
      'the file begins with two byte order marks, so that the name of its first column cannot be read',
      'remove one: save it again with a text editor as UTF-8 without a byte order mark',
    );
  const opening = openings.find(([signature]) => text.startsWith(signature));
  if (opening) return wholeFile(`the file is ${opening[1]}, not CSV`, saveAsCsv);
  if (/^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|table|\?xml|meta)/i.test(text))
    return wholeFile('the file is a web page or XML, as some programs export, not CSV', saveAsCsv);
  const wide = wideEncoding(head);
  return wide === null ? null : wholeFile(`the file is ${wide}, not UTF-8`, saveAsCsv);
}

/** Recognises UTF-16 and UTF-32 by their mark, or by the NULs between the letters of the header. */
function wideEncoding(head: Buffer): string | null {
  const [a, b, c, d] = head;
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'UTF-32' : 'UTF-16';
  if (a === 0xfe && b === 0xff) return 'UTF-16';
  if (a === 0 && b === 0) return c === 0xfe && d === 0xff ? 'UTF-32' : null;
  const start = head.subarray(0, 64);
  if (start.length < 8) return null;
  const nulsAt = (odd: number): boolean =>
    start.every((byte, i) => (i % 2 === odd ? byte === 0 : byte !== 0 && byte < 0x80));
  return nulsAt(1) || nulsAt(0) ? 'UTF-16 without a byte order mark' : null;
}
