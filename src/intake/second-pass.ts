import { statSync } from 'node:fs';
import type { Config } from '../core/settings/settings.ts';
import { isOfTheMachine } from './file-rows.ts';
import { hashBytes, type ReadFile } from './read.ts';
import { checkedRows, type GoodRow } from './rows.ts';
import type { Scan } from './scan.ts';

/** Of at most 2,000 rows and about 256 KiB each: about 45 megabytes together. */
const mostChunks = 32;
/** A longer file has more chunks: nothing of it is kept in vain. */
const mostBytes = mostChunks * 2 ** 18;

/** The good rows of pass 1 over a short file, so that pass 2 parses and checks nothing again. */
export type KeptRows = {
  add(chunk: GoodRow[]): void;
  /** All chunks; null for a longer file. */
  chunks(): readonly GoodRow[][] | null;
  /** The rows of the first chunk of any file. */
  first(): readonly GoodRow[];
};

export function keptRows(path: string): KeptRows {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let chunks: GoodRow[][] | null = size > mostBytes ? null : [];
  let first: GoodRow[] = [];
  return {
    add(chunk) {
      if (first.length === 0) first = chunk;
      if (chunks?.length === mostChunks) chunks = null;
      chunks?.push(chunk);
    },
    chunks: () => chunks,
    first: () => first,
  };
}

/**
 * Pass 2 over a file: gives `take` its good rows in chunks. Then returns the SHA-256 of its bytes, which shows
 * whether they are still those of pass 1; empty where it cannot be read, or is another file by now.
 */
export async function readFileAgain(
  path: string,
  { config, scan, kept }: { config: Config; scan: Scan; kept: KeptRows },
  take: (good: readonly GoodRow[]) => Promise<void>,
): Promise<string> {
  const chunks = kept.chunks();
  if (chunks) {
    for (const good of chunks) await take(good);
    return hashNow(path, config, scan);
  }
  let hash = '';
  for await (const item of checkedRows(path, scan.rules, config.intake, scan.bad)) {
    if (item.kind === 'chunk') await take(item.good);
    if (item.kind === 'end') hash = hashOfSame(item.file, scan, item.bytesHash);
  }
  return hash;
}

/** Another file with the same name may have another owner, and the owner counts as the dropper. */
function hashOfSame(file: ReadFile | null, before: Scan, hash: string): string {
  return file?.key === before.file?.key ? hash : '';
}

async function hashNow(path: string, { intake }: Config, before: Scan): Promise<string> {
  try {
    const now = await hashBytes(path, intake);
    return now ? hashOfSame(now.file, before, now.sha256) : '';
  } catch (error) {
    if (isOfTheMachine(error)) throw error;
    return '';
  }
}
