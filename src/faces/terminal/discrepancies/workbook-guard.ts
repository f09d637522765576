import { inflateRawSync } from 'node:zlib';

/** The largest workbook that is read: bytes, unpacked bytes, entries, and the last row and column of its sheets. */
export const workbookLimits = {
  bytes: 20 * 1024 * 1024,
  unpacked: 200 * 1024 * 1024,
  entries: 1_000,
  rows: 100_001,
  columns: 256,
};

type Limits = typeof workbookLimits;

/** The share of these limits that an exported workbook may use. The rest is for what people fill in and how they save it. */
const writtenShare = 0.8;
type Entry = { name: string; method: number; data: Buffer };

/**
 * Looks through a workbook's archive before a library unpacks it, by the same directory that the library reads. Checks the
 * unpacked size, and how far the sheets reach: one cell in the last row makes a million of them. Returns what is wrong
 * with it, or null.
 */
export function troubleIn(archive: Buffer, limits: Limits = workbookLimits): string | null {
  const entries = entriesOf(archive, limits);
  if (typeof entries === 'string') return entries;
  if (!entries.some(({ name }) => name === 'xl/workbook.xml')) return 'it is a zip archive, but no workbook';
  let left = limits.unpacked;
  for (const entry of entries) {
    if (!/\.(xml|rels)$/.test(entry.name)) continue;
    const content = unpack(entry, left);
    if (content === null) return tooLarge(limits.unpacked);
    if (typeof content === 'string') return content;
    left -= content.length;
    const far = reach(content, limits);
    if (far !== null) return far;
  }
  return null;
}

/** Returns why a workbook could not be read back once filled in, or null. */
export function tooLargeToFillIn(archive: Buffer, limits: Limits = workbookLimits): string | null {
  const bytes = limits.bytes * writtenShare;
  if (archive.length > bytes) return `it is larger than ${inMiB(bytes)}`;
  return troubleIn(archive, { ...limits, unpacked: limits.unpacked * writtenShare });
}

const damaged = 'it is damaged, or no workbook';
const inMiB = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;
const tooLarge = (limit: number): string => `unpacked it is larger than ${inMiB(limit)}`;

/** The archive's directory (APPNOTE 4.3.12, 4.3.16), or what is wrong with it. */
function entriesOf(archive: Buffer, limits: Limits): Entry[] | string {
  if (!archive.subarray(0, 4).equals(Buffer.from('PK\u0003\u0004', 'latin1'))) return 'it is no workbook';
  const end = archive.lastIndexOf('PK\u0005\u0006', archive.length - 22, 'latin1');
  if (end < 0) return damaged;
  const count = archive.readUInt16LE(end + 8);
  let at = archive.readUInt32LE(end + 16);
  if (count > limits.entries) return `it has more than ${limits.entries} parts`;
  const entries: Entry[] = [];
  for (let n = 0; n < count; n++) {
    if (at + 46 > archive.length || archive.toString('latin1', at, at + 4) !== 'PK\u0001\u0002')
      return damaged;
    const [nameLength = 0, extra = 0, comment = 0] = [28, 30, 32].map((o) => archive.readUInt16LE(at + o));
    const local = archive.readUInt32LE(at + 42);
    if (local + 30 > archive.length) return damaged;
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    entries.push({
      name: archive.toString('utf8', at + 46, at + 46 + nameLength),
      method: archive.readUInt16LE(at + 10),
      data: archive.subarray(start, start + archive.readUInt32LE(at + 20)),
    });
    at += 46 + nameLength + extra + comment;
  }
  return entries;
}

/** The content of an entry, or null when it exceeds `left` bytes, whatever its header says. */
function unpack({ method, data }: Entry, left: number): Buffer | string | null {
  if (method === 0) return data.length <= left ? data : null;
  if (method !== 8) return damaged;
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(1, left) });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    return code === 'ERR_BUFFER_TOO_LARGE' ? null : damaged;
  }
}

/** Matches cells and rows beyond the limits. Only the attribute `r` names their place. */
function reach(content: Buffer, { rows, columns }: Limits): string | null {
  if (content.includes(0)) return 'its text is not UTF-8';
  for (const [, , place = ''] of content.toString('latin1').matchAll(/[\s"']r\s*=\s*(["'])(.*?)\1/gs)) {
    if (place.includes('&')) return damaged;
    // As the library reads a place: from its first digit on a number, before that a column, whatever stands there.
    const digit = place.search(/\d/);
    if (digit === -1 || Number.isNaN(Number(place.slice(digit)))) continue;
    if (Number(place.slice(digit)) > rows) return `it reaches beyond row ${rows}`;
    if (columnNumber(place.slice(0, digit)) > columns) return `it reaches beyond column ${columns}`;
  }
  return null;
}

function columnNumber(letters: string): number {
  return Array.from(letters).reduce((n, letter) => n * 26 + letter.charCodeAt(0) - 64, 0);
}
