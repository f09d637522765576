import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'csv-stringify/sync';

export type CsvFile = {
  write(cells: string[]): Promise<void>;
  /** Writes what is pending to the temporary file. */
  flush(): Promise<void>;
  /** Syncs and renames into place; null when nothing was ever written. */
  finish(target: string): Promise<string | null>;
  discard(): Promise<void>;
};

/**
 * A CSV file (RFC 4180, CRLF) that is made with its first row, under a temporary name until it is finished. `bom`: with
 * the mark by which Excel knows UTF-8 and keeps the letters of names.
 */
export function csvFile(
  folder: string,
  temporaryName: string,
  header: string[],
  { delimiter, bom }: { delimiter: string; bom: boolean },
): CsvFile {
  const temporary = join(folder, temporaryName);
  let file: FileHandle | null = null;
  let pending: string[][] = [];

  async function flush(): Promise<void> {
    if (pending.length === 0) return;
    const isNew = file === null;
    if (!file) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      file = await open(temporary, 'w', 0o600);
      pending.unshift(header);
    }
    await file.appendFile(stringify(pending, { record_delimiter: 'windows', delimiter, bom: bom && isNew }));
    pending = [];
  }

  return {
    async write(cells) {
      pending.push(cells);
      if (pending.length >= 500) await flush();
    },
    flush,
    async finish(target) {
      await flush();
      if (!file) return null;
      await file.sync();
      await file.close();
      await rename(temporary, target);
      await syncFolder(dirname(target));
      return target;
    },
    async discard() {
      pending = [];
      if (!file) return;
      await file.close();
      await rm(temporary, { force: true });
    },
  };
}

/** Makes a rename in the folder last through a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
