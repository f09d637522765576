import {
  type FormatName,
  foreignFormats,
  formatNames,
  formats,
  isZip,
  readNames,
} from '../core/domain/file-formats.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { saveAsCsv } from '../core/domain/save-as.ts';

/** Compressed formats, and the tool that unpacks each. */
const packed: readonly (readonly [signature: string, what: string, tool: string])[] = [
  ['\x1f\x8b', 'gzip', 'gunzip'],
  ['BZh', 'bzip2', 'bunzip2'],
  ['\xfd7zXZ\0', 'xz', 'unxz'],
  ['\x28\xb5\x2f\xfd', 'Zstandard', 'unzstd'],
];

/** Tells by its first bytes which format a file has, or returns the problem that refuses it. */
export function formatOf(head: Buffer): FormatName | Problem {
  const start = head.toString('latin1');
  return formatNames.find((name) => formats[name].begins(start)) ?? problemOf(start, head) ?? 'csv';
}

/** The problem of a file that is not text in UTF-8; else null. */
function problemOf(start: string, head: Buffer): Problem | null {
  const pack = packed.find(([signature]) => start.startsWith(signature));
  if (pack) {
    const [, what, tool] = pack;
    const fix = `unpack it with ${tool} (rename it first, so that its name ends as ${what} files do), and give the ${readNames} file inside`;
    return wholeFile(`the file is compressed (${what}), not ${readNames}`, fix);
  }
  if (start.startsWith('\xef\xbb\xbf\xef\xbb\xbf'))
    return wholeFile(
      'the file begins with two byte order marks, so that the name of its first column cannot be read',
      'remove one: save it again with a text editor as UTF-8 without a byte order mark',
    );
  const other = foreignFormats.find(({ begins }) => begins(start));
  if (other) {
    const whatever = isZip(start) ? ', whatever its name ends in' : '';
    return wholeFile(`the file is ${other.name}, not ${readNames}${whatever}`, saveAsCsv);
  }
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
