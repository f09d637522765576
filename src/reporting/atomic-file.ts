import { mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Writes a whole file or nothing: a temporary file in a folder of its own beside the target, synced, renamed over the
 * target, and the folder synced. When `chunks` throws, the target is as it was and nothing is left behind.
 */
export async function writeAtomically(
  path: string,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A folder of its own: two processes that write the same report never share a temporary file.
  const scratch = await mkdtemp(join(folder, '.writing-'));
  try {
    const temporary = join(scratch, basename(path));
    await writeSynced(temporary, chunks);
    await rename(temporary, path);
    await syncFolder(folder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The whole content at once as the stream {@link writeAtomically} takes. */
export async function* whole(content: string | Uint8Array): AsyncGenerator<string | Uint8Array> {
  yield content;
}

async function writeSynced(path: string, chunks: AsyncIterable<string | Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) await file.writeFile(chunk);
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
