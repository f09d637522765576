import { createReadStream } from 'node:fs';
import { knownColumn } from '../core/domain/batch-rules.ts';
import { writeWhole } from '../core/storage/atomic-file.ts';
import { type CellPlace, replaceCells } from './cells.ts';
import type { Checked } from './check.ts';
import { delimiterNames } from './header.ts';

/** A cell that a problem names. `column`: the name of the problem. `text`: the whole cell as it stands in the file. */
export type FaultyCell = CellPlace & { column: string; text: string };

/** A longer cell is mended in the file itself. */
const mostCharacters = 500;

/** The cells that problems of a file name, each once, and the payees of their rows and of others, by row. */
export type FaultyRows = { cells: FaultyCell[]; payees: Record<string, string> };

/** Returns what these problems of a checked file are about. `others`: rows whose payees are also named. */
export async function faultyRows(
  path: string,
  { columns, delimiter, problems }: Pick<Checked, 'columns' | 'delimiter' | 'problems'>,
  others: readonly number[],
): Promise<FaultyRows> {
  const named = problems.flatMap(({ row, column }) => {
    const index = row > 1 ? columns.findIndex((name) => isNamed(name.trim(), column)) : -1;
    return index === -1 ? [] : [{ row, index, column }];
  });
  const payeeAt = columns.findIndex((name) => isNamed(name.trim(), 'account_name'));
  const payees = [...new Set([...problems.map(({ row }) => row), ...others])].map((row) => ({
    row,
    index: payeeAt,
  }));
  const texts = new Map<string, string>();
  const replace = (place: CellPlace, text: string): null => {
    texts.set(keyOf(place), text);
    return null;
  };
  await overCells(path, { delimiter, places: [...named, ...payees], replace });
  const cells = [...new Map(named.map((one) => [keyOf(one), one])).values()].flatMap((one) => {
    const text = texts.get(keyOf(one));
    return text === undefined || text.length > mostCharacters ? [] : [{ ...one, text }];
  });
  const names = payees.map((one) => [one.row, texts.get(keyOf(one)) ?? '']);
  return { cells, payees: Object.fromEntries(names) };
}

/**
 * Writes `target` as `source` with these cells changed, durably and whole. Returns false, and writes nothing, where a
 * cell is no longer what it was.
 */
export async function mendFile(
  source: string,
  target: string,
  { delimiter, changes }: { delimiter: string | null; changes: readonly (FaultyCell & { became: string })[] },
): Promise<boolean> {
  const wanted = new Map(changes.map((one) => [keyOf(one), one]));
  let found = 0;
  const replace = (place: CellPlace, text: string): string | null => {
    const change = wanted.get(keyOf(place));
    if (change?.text !== text) return null;
    found += 1;
    return change.became;
  };
  try {
    await writeWhole(target, async (write) => {
      await overCells(source, { delimiter, places: changes, replace }, write);
      if (found !== wanted.size) throw new CellsDiffer();
    });
    return true;
  } catch (error) {
    if (error instanceof CellsDiffer) return false;
    throw error;
  }
}

class CellsDiffer extends Error {}

function keyOf({ row, index }: CellPlace): string {
  return `${row}.${index}`;
}

function isNamed(name: string, column: string): boolean {
  return column !== '' && (name === column || knownColumn(name) === column);
}

async function overCells(
  path: string,
  about: {
    /** Its name; null where no header was recognised. */
    delimiter: string | null;
    places: readonly CellPlace[];
    replace(place: CellPlace, text: string): string | null;
  },
  write: (bytes: Uint8Array) => Promise<void> = async () => undefined,
): Promise<void> {
  const delimiter = Object.entries(delimiterNames).find(([, name]) => name === about.delimiter)?.[0];
  if (delimiter === undefined || about.places.length === 0) return;
  const wanted = Map.groupBy(about.places, ({ row }) => row);
  const isWanted = ({ row, index }: CellPlace): boolean =>
    wanted.get(row)?.some((one) => one.index === index) ?? false;
  await replaceCells(createReadStream(path), { delimiter, isWanted, replace: about.replace }, write);
}
