import { mkdir, mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { openFileTasks } from '../../core/ledger/file-tasks.ts';
import { writeWhole } from '../../core/storage/atomic-file.ts';
import type { Db } from '../../core/storage/ledger.ts';

/** A body that brings nothing for so long is given up. */
const stallMs = 30_000;
/** An upload that nobody decided on is removed after so long. */
export const keptMs = 86_400_000;

/** A file that is too large, whose sender stalls, or whose form is broken. Nothing of it is kept. */
export class RefusedUpload extends Error {
  readonly statusCode: 400 | 408 | 413;
  readonly fix: string;

  constructor(statusCode: 400 | 408 | 413, said: { problem: string; fix: string }) {
    super(said.problem);
    this.statusCode = statusCode;
    this.fix = said.fix;
  }
}

/** The parts of a form. Throws {@link RefusedUpload} where it has no boundary, or breaks off. */
export async function* formParts(request: FastifyRequest): AsyncGenerator<Multipart> {
  const parts = request.parts();
  for (;;) {
    const { done, value } = await parts.next().catch(refuseBroken);
    if (done) return;
    yield value;
  }
}

/** The form's parser gives its errors neither a code nor a status; those of the system and of Fastify have one. */
function refuseBroken(error: unknown): never {
  if (!(error instanceof Error) || 'code' in error || 'statusCode' in error) throw error;
  throw new RefusedUpload(400, {
    problem: 'the form is broken: its boundary is missing, or it ends too early',
    fix: 'send the whole form, with the boundary that its Content-Type names',
  });
}

/** Writes a stream as the file `name`, durable and alone in a new folder below `folder`. Throws {@link RefusedUpload}. */
export async function keepUpload(
  stream: Readable,
  { folder, name, maxBytes }: { folder: string; name: string; maxBytes: number },
  /** What must hold once the file is written. */
  ends: () => Promise<void> = async () => undefined,
): Promise<{ own: string; path: string }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const own = await mkdtemp(join(folder, 'upload-'));
  const path = join(own, name);
  try {
    await writeWhole(path, (write) => pump(stream, write, maxBytes));
    await ends();
  } catch (error) {
    await removeFolder(own);
    throw error;
  }
  return { own, path };
}

export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

/** The folders of files whose batch is in the ledger: the next intake moves them to the archive (P34). */
export async function awaitedFolders(db: Db): Promise<Set<string>> {
  return new Set((await openFileTasks(db)).map(({ source }) => dirname(source)));
}

/** Passes the stream on, piece by piece, and gives up on one that stalls, is cut off, or is too long. */
async function pump(
  stream: Readable,
  write: (piece: Uint8Array) => Promise<void>,
  maxBytes: number,
): Promise<void> {
  let bytes = 0;
  let giveUp: (error: RefusedUpload) => void = () => undefined;
  const timer = setTimeout(() => giveUp(tooSlow()), stallMs);
  // Not destroyed: its connection must still carry the answer.
  const pieces: AsyncIterator<Uint8Array> = stream.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      // A race with one promise for all pieces would keep them all.
      const { done, value } = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        giveUp = reject;
        pieces.next().catch(refuseBroken).then(resolve, reject);
      });
      if (done) break;
      timer.refresh();
      bytes += value.length;
      if (bytes > maxBytes) throw fileTooLarge(maxBytes);
      await write(value);
    }
  } finally {
    clearTimeout(timer);
  }
  // Node ends the iteration with an error where the sender left; a part of a form that was cut says so here.
  if ('truncated' in stream && stream.truncated === true) throw fileTooLarge(maxBytes);
}

/**
 * Removes files of yesterday that no batch waits for. `atStart`: also the empty folders that a killed process left, while
 * no upload can have just made its own.
 */
export async function sweepUploads(
  folder: string,
  db: Db,
  { nowMs, atStart }: { nowMs: number; atStart: boolean },
): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return;
  const awaited = await awaitedFolders(db);
  for (const name of names) {
    const own = join(folder, name);
    const isGone =
      atStart &&
      (await rmdir(own).then(
        () => true,
        () => false,
      ));
    if (isGone) continue;
    const begun = await stat(own)
      .then(({ mtimeMs }) => mtimeMs)
      .catch(() => nowMs);
    if (begun < nowMs - keptMs && !awaited.has(own)) await removeFolder(own);
  }
}

/** For a file that `intake.max_bytes` does not allow. */
export function fileTooLarge(maxBytes: number): RefusedUpload {
  return new RefusedUpload(413, {
    problem: `the file is larger than intake.max_bytes, ${maxBytes} bytes; nothing was taken`,
    fix: 'split the file, or raise intake.max_bytes',
  });
}

function tooSlow(): RefusedUpload {
  return new RefusedUpload(408, {
    problem: `the body stood still for ${stallMs / 1000} s; nothing was taken`,
    fix: 'send it again',
  });
}
