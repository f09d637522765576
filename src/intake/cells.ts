const quote = 34;
const lineFeed = 10;
const carriageReturn = 13;
const byteOrderMark = [0xef, 0xbb, 0xbf];

/** The place of a cell. `row`: as in problems, 1 is the header. `index`: from 0. */
export type CellPlace = { row: number; index: number };

/**
 * Copies CSV and gives each wanted cell to `replace`, which returns its new text, or null to keep it. Every other byte
 * stays as it is: quotes, line ends, byte order mark, delimiter. Rows and cells are counted as the reader of batches
 * counts them.
 */
export async function replaceCells(
  pieces: AsyncIterable<Uint8Array>,
  about: {
    delimiter: string;
    isWanted(place: CellPlace): boolean;
    replace(place: CellPlace, text: string): string | null;
  },
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const delimiter = about.delimiter.charCodeAt(0);
  const place: CellPlace = { row: 1, index: 0 };
  let isWanted = about.isWanted(place);
  /** The bytes so far of a wanted cell. */
  let held: Uint8Array[] = [];
  let isQuoted = false;
  let isOpen = false;
  let isStart = true;
  let afterReturn = false;
  let position = 0;

  const endCell = (): Uint8Array => {
    const raw = Buffer.concat(held);
    held = [];
    const was = textOf(raw);
    const text = about.replace({ ...place }, was);
    return text === null || text === was ? raw : Buffer.from(cellOf(text, about.delimiter, raw[0] === quote));
  };
  const next = (row: number, index: number): void => {
    Object.assign(place, { row, index });
    isWanted = about.isWanted(place);
    [isQuoted, isOpen, isStart] = [false, false, true];
  };

  for await (const piece of pieces) {
    let from = 0;
    for (let i = 0; i < piece.length; i++, position++) {
      const byte = piece[i];
      // It belongs to no cell.
      if (position < 3 && byte === byteOrderMark[position]) continue;
      if (byte === quote && (isStart || isQuoted)) {
        isQuoted = true;
        isOpen = !isOpen;
      }
      const wasReturn = afterReturn;
      afterReturn = false;
      if (isOpen || (byte !== delimiter && byte !== lineFeed && byte !== carriageReturn)) {
        isStart = false;
        continue;
      }
      const endsCell = !(byte === lineFeed && wasReturn);
      if (endsCell && isWanted) {
        held.push(piece.subarray(from, i));
        await write(endCell());
        from = i;
      }
      afterReturn = byte === carriageReturn;
      if (byte === delimiter) next(place.row, place.index + 1);
      else if (endsCell) next(place.row + 1, 0);
      if (isWanted) {
        await write(piece.subarray(from, i + 1));
        from = i + 1;
      }
    }
    const rest = piece.subarray(from);
    if (isWanted) held.push(rest);
    else if (rest.length > 0) await write(rest);
  }
  if (isWanted) await write(endCell());
}

/** The text of a cell as it stands in the file. */
function textOf(raw: Buffer): string {
  const text = raw.toString('utf8');
  return raw[0] === quote ? text.replace(/^"|"$/g, '').replaceAll('""', '"') : text;
}

/** A cell as RFC 4180 has it; one that had quotes keeps them. */
function cellOf(text: string, delimiter: string, wasQuoted: boolean): string {
  const needs = wasQuoted || text.includes('"') || text.includes(delimiter) || /[\r\n]/.test(text);
  return needs ? `"${text.replaceAll('"', '""')}"` : text;
}
