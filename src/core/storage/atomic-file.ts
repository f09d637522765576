import { mkdir, mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export type Write = (chunk: string | Uint8Array) => Promise<void>;

/**
 * Writes a whole file or nothing: a temporary file in a folder of its own beside the target, synced, renamed over the
 * target, and the folder synced. When `fill` throws, the target is as it was and nothing is left behind.
 */
export async function writeWhole(path: string, fill: (write: Write) => Promise<void>): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A folder of its own: two processes that write the same report never share a temporary file.
  const scratch = await mkdtemp(join(folder, prefix));
  try {
    await sweep(folder, (await stat(scratch)).mtimeMs);
    const temporary = join(scratch, basename(path));
    await writeSynced(temporary, fill);
    await rename(temporary, path);
    await syncFolder(folder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** As {@link writeWhole}, of what is there already. */
export function writeAtomically(path: string, content: string): Promise<void> {
  return writeWhole(path, (write) => write(content));
}

const prefix = '.writing-';
/** No file takes so long to write: its writer was killed. */
const abandonedMs = 86_400_000;

/** Takes away what a killed process left half written, account numbers in it. `now` by the clock that dates the files. */
async function sweep(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const path = join(folder, name);
    // Gone meanwhile: another process has finished with it.
    const begun = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    );
    if (begun < now - abandonedMs) await rm(path, { recursive: true, force: true });
  }
}

async function writeSynced(path: string, fill: (write: Write) => Promise<void>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await fill((chunk) => file.writeFile(chunk));
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
