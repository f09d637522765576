import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'csv-stringify/sync';

export type CsvFile = {
  write(cells: string[]): Promise<void>;
  /**
   * Syncs all rows to disk under the temporary name and returns that name; null when there were no rows. More
   * rows may follow.
   */
  complete(): Promise<string | null>;
  /** Completes the file and renames it into place; null when there were no rows. */
  finish(target: string): Promise<string | null>;
  discard(): Promise<void>;
};

/** About the most characters that wait to be written. */
const mostPending = 2 ** 20;

/**
 * A CSV file (RFC 4180, CRLF). Its first row creates it, under a temporary name until it is finished. `bom`
 * writes the byte order mark, by which Excel recognises UTF-8 and keeps the letters of names.
 */
export function csvFile(
  folder: string,
  temporaryName: string,
  header: string[],
  { delimiter, bom }: { delimiter: string; bom: boolean },
): CsvFile {
  const temporary = join(folder, temporaryName);
  let file: FileHandle | null = null;
  let isBegun = false;
  let pending: string[][] = [];
  let length = 0;

  async function flush(): Promise<void> {
    if (pending.length === 0) return;
    const isNew = !isBegun;
    if (isNew) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      pending.unshift(header);
    }
    file ??= await open(temporary, isNew ? 'w' : 'a', 0o600);
    isBegun = true;
    await file.appendFile(stringify(pending, { record_delimiter: 'windows', delimiter, bom: bom && isNew }));
    pending = [];
    length = 0;
  }

  async function close(): Promise<void> {
    await file?.close();
    file = null;
  }

  async function complete(): Promise<string | null> {
    await flush();
    if (!isBegun) return null;
    await file?.sync();
    await close();
    await syncFolderLater(folder);
    return temporary;
  }

  return {
    async write(cells) {
      pending.push(cells);
      for (const cell of cells) length += cell.length;
      if (pending.length >= 500 || length >= mostPending) await flush();
    },
    complete,
    async finish(target) {
      if ((await complete()) === null) return null;
      await rename(temporary, target);
      await syncFolderLater(dirname(target));
      return target;
    },
    async discard() {
      pending = [];
      await close();
      if (isBegun) await rm(temporary, { force: true });
    },
  };
}

/** Syncs a folder, so that a rename in it survives a power cut. */
export async function syncFolderLater(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
