const lineFeed = 10;
const carriageReturn = 13;
const quote = 34;

/** What pieces of CSV came to: the records they completed, and what only a parser of CSV may read from there on. */
export type PlainLines = {
  records: string[][];
  /** Everything behind those records; null while the pieces are plain. */
  unread: Buffer | null;
};

/**
 * Splits pieces of CSV that hold no quote and no lone carriage return: there a line is a record and a delimiter always
 * ends a cell (RFC 4180), so that nothing has to look at each byte. The first other piece, and a line of over
 * `maxLineBytes`, is handed back unread with all behind it. Each line is a text of its own: a cell that is kept keeps
 * its line alive and not the piece.
 */
export function plainLines(
  delimiter: string,
  maxLineBytes: number,
): {
  split(piece: Buffer): PlainLines;
  /** The beginning of a record that no line end completed yet. */
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
