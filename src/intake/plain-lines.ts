const lineFeed = 10;
const carriageReturn = 13;
const quote = 34;

/** The complete records of a piece of CSV, and the bytes that only a CSV parser may read. */
export type PlainLines = {
  records: string[][];
  /** Everything after those records; null while the pieces are plain. */
  unread: Buffer | null;
};

/**
 * Splits pieces of CSV without quotes and lone carriage returns. There a line is a record and a delimiter
 * ends a cell (RFC 4180), so nothing examines each byte. The first other piece, or a line longer than
 * `maxLineBytes`, is returned unread with all that follows. Each line becomes its own string, so a cell that
 * is kept does not keep the whole piece in memory.
 */
export function plainLines(
  delimiter: string,
  maxLineBytes: number,
): {
  split(piece: Buffer): PlainLines;
  /** The start of a record whose line end has not come yet. */
  rest(): Buffer;
} {
  let rest: Buffer = Buffer.alloc(0);

  function split(piece: Buffer): PlainLines {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    rest = bytes;
    if (piece.includes(quote)) return { records: [], unread: bytes };
    const records: string[][] = [];
    let start = 0;
    let carriage = bytes.indexOf(carriageReturn);
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      const isLone = carriage !== -1 && carriage < end - 1;
      if (isLone || end - start > maxLineBytes) return { records, unread: bytes.subarray(start) };
      const isPair = carriage === end - 1 && carriage >= start;
      records.push(bytes.toString('utf8', start, isPair ? end - 1 : end).split(delimiter));
      start = end + 1;
      if (isPair) carriage = bytes.indexOf(carriageReturn, start);
    }
    rest = bytes.subarray(start);
    return { records, unread: rest.length > maxLineBytes ? rest : null };
  }

  return { split, rest: () => rest };
}
