import { mkdir, mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fastifyMultipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { openFileTasks } from '../../core/ledger/file-tasks.ts';
import type { Config } from '../../core/settings/settings.ts';
import { writeWhole } from '../../core/storage/atomic-file.ts';
import type { Db } from '../../core/storage/ledger.ts';
import { fileTypes } from './batch-operations.ts';
import { ApiProblem } from './problem.ts';

/** A body that brings nothing for so long is given up. */
const stallMs = 30_000;
const dayMs = 86_400_000;

/** Where posted files lie until they are batches. */
export function uploadsIn({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'uploads');
}

/** Lets requests bring a file: its bytes are read as a stream, never held. */
export function readStreams(server: FastifyInstance, maxBytes: number): void {
  for (const type of fileTypes.filter((one) => !one.startsWith('multipart')))
    server.addContentTypeParser(type, async (_request: FastifyRequest, payload: Readable) => payload);
  server.register(fastifyMultipart, { limits: { files: 2, fields: 0, fileSize: maxBytes + 1, parts: 2 } });
}

/** A file that came whole, durable in a folder of its own until `discard`, which spares one that a batch waits for. */
export type Upload = { path: string; discard(db: Db): Promise<void> };

/** Writes the request's file below `folder`. Throws {@link ApiProblem} for one that is too large, cut off, or no file. */
export async function receiveFile(
  request: FastifyRequest,
  { folder, name, maxBytes }: { folder: string; name: string | undefined; maxBytes: number },
): Promise<Upload> {
  const { stream, fileName, ends } = await fileIn(request);
  const wanted = fileNameOf(name ?? fileName);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const own = await mkdtemp(join(folder, 'upload-'));
  const path = join(own, wanted);
  try {
    await writeWhole(path, (write) => pump(stream, write, maxBytes));
    await ends();
  } catch (error) {
    await remove(own);
    throw error;
  }
  return {
    path,
    async discard(db) {
      if (!(await awaitedFolders(db)).has(own)) await remove(own);
    },
  };
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

/** The folders of files whose batch is in the ledger: the next intake moves them to the archive (P34). */
async function awaitedFolders(db: Db): Promise<Set<string>> {
  return new Set((await openFileTasks(db)).map(({ source }) => dirname(source)));
}

type Sent = {
  stream: Readable;
  fileName: string | undefined;
  /** After the file: throws where another part of the form follows, which would be lost. */
  ends(): Promise<void>;
};

async function fileIn(request: FastifyRequest): Promise<Sent> {
  if (!request.isMultipart()) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parser of these types gives the stream itself
    return { stream: request.body as Readable, fileName: undefined, ends: async () => undefined };
  }
  const parts = request.files();
  const { value: part } = await parts.next();
  if (!part) throw noFile();
  const ends = async (): Promise<void> => {
    const { done, value } = await parts.next();
    if (done) return;
    value.file.resume();
    throw noFile('the form has more than one file; nothing was taken');
  };
  return { stream: part.file, fileName: part.filename, ends };
}

/** Passes the stream on, piece by piece, and gives up on one that stalls, is cut off, or is too long. */
async function pump(
  stream: Readable,
  write: (piece: Uint8Array) => Promise<void>,
  maxBytes: number,
): Promise<void> {
  let bytes = 0;
  let giveUp: (error: ApiProblem) => void = () => undefined;
  const timer = setTimeout(() => giveUp(tooSlow()), stallMs);
  // Not destroyed: its connection must still carry the answer.
  const pieces: AsyncIterator<Uint8Array> = stream.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      // A race with one promise for all pieces would keep them all.
      const { done, value } = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        giveUp = reject;
        pieces.next().then(resolve, reject);
      });
      if (done) break;
      timer.refresh();
      bytes += value.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      await write(value);
    }
  } finally {
    clearTimeout(timer);
  }
  // Node ends the iteration with an error where the sender left; a part of a form that was cut says so here.
  if ('truncated' in stream && stream.truncated === true) throw tooLarge(maxBytes);
}

/** The name of the file; the batch is named after it. */
function fileNameOf(name: string | undefined): string {
  const wanted = name === undefined ? '' : basename(name.replaceAll('\\', '/'));
  if (/^[^.\0/][^\0/]{0,199}\.csv$/i.test(wanted)) return wanted;
  throw new ApiProblem(422, {
    kind: 'file_name',
    problem: 'the file has no name that ends with .csv',
    fix: 'say ?name=NAME.csv: the batch is named after it',
  });
}

/** Removes what a killed process left: folders that are empty, and files of yesterday that no batch waits for. */
export async function sweepUploads(folder: string, db: Db, nowMs: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return;
  const awaited = await awaitedFolders(db);
  for (const name of names) {
    const own = join(folder, name);
    if (
      await rmdir(own)
        .then(() => true)
        .catch(() => false)
    )
      continue;
    const begun = await stat(own)
      .then(({ mtimeMs }) => mtimeMs)
      .catch(() => nowMs);
    if (begun < nowMs - dayMs && !awaited.has(own)) await remove(own);
  }
}

function noFile(problem = 'the form has no file'): ApiProblem {
  return new ApiProblem(422, {
    kind: 'no_file',
    problem,
    fix: 'send the CSV file as the only part of the form, or as a body of text/csv',
  });
}

function tooLarge(maxBytes: number): ApiProblem {
  return new ApiProblem(413, {
    kind: 'too_large',
    problem: `the file is larger than intake.max_bytes, ${maxBytes} bytes; nothing was taken`,
    fix: 'split the file, or raise intake.max_bytes',
  });
}

function tooSlow(): ApiProblem {
  return new ApiProblem(408, {
    kind: 'too_slow',
    problem: `the body stood still for ${stallMs / 1000} s; nothing was taken`,
    fix: 'send it again',
  });
}
