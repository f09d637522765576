import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fastifyMultipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readEnding, readEndings, readNames, usualTypes } from '../../core/domain/file-formats.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Db } from '../../core/storage/ledger.ts';
import { fileNameFinding } from '../../intake/file-name.ts';
import { awaitedFolders, fileTooLarge, formParts, keepUpload, removeFolder } from '../admin/uploads.ts';
import { fileTypes } from './batch-operations.ts';
import { ApiProblem } from './problem.ts';

/** Where posted files lie until they are batches. */
export function uploadsIn({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'uploads');
}

/** Lets requests bring a file: its bytes are read as a stream, never held. */
export function readStreams(server: FastifyInstance, maxBytes: number): void {
  for (const type of fileTypes.filter((one) => !one.startsWith('multipart')))
    server.addContentTypeParser(type, async (_request: FastifyRequest, payload: Readable) => payload);
  server.register(fastifyMultipart, { limits: { files: 2, fields: 2, fileSize: maxBytes + 1, parts: 3 } });
}

/** A file that came whole, durable in a folder of its own until `discard`, which spares one that a batch waits for. */
export type Upload = { path: string; name: string; discard(db: Db): Promise<void> };

/** Writes the request's file below `folder`. Throws {@link ApiProblem} where there is no file, and RefusedUpload. */
export async function receiveFile(
  request: FastifyRequest,
  { folder, name, maxBytes }: { folder: string; name: string | undefined; maxBytes: number },
): Promise<Upload> {
  const { stream, fileName, ends } = await fileIn(request, maxBytes);
  const wanted = fileNameOf(name ?? fileName);
  const { own, path } = await keepUpload(stream, { folder, name: wanted, maxBytes }, ends);
  return {
    path,
    name: wanted,
    async discard(db) {
      if (!(await awaitedFolders(db)).has(own)) await removeFolder(own);
    },
  };
}

type Sent = {
  stream: Readable;
  fileName: string | undefined;
  /** After the file: throws where another part of the form follows, which would be lost. */
  ends(): Promise<void>;
};

async function fileIn(request: FastifyRequest, maxBytes: number): Promise<Sent> {
  if (!request.isMultipart()) {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw fileTooLarge(maxBytes);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parser of these types gives the stream itself
    return { stream: request.body as Readable, fileName: undefined, ends: async () => undefined };
  }
  const parts = formParts(request);
  const { value: part } = await parts.next();
  if (part?.type !== 'file') throw noFile();
  const ends = async (): Promise<void> => {
    const { done, value } = await parts.next();
    if (done) return;
    if (value.type === 'file') value.file.resume();
    throw noFile('the form has more than the file; nothing was taken');
  };
  return { stream: part.file, fileName: part.filename, ends };
}

/** The name of the file; the batch is named after it. */
function fileNameOf(name: string | undefined): string {
  const wanted = name === undefined ? '' : basename(name.replaceAll('\\', '/'));
  const isNamed = /^[^.\0/][^\0/]*$/.test(wanted) && readEnding.test(wanted);
  const problem = isNamed
    ? fileNameFinding(wanted)?.problem
    : `the file has no name that ends with ${readEndings}`;
  if (problem === undefined) return wanted;
  const fix = `say ?name=NAME${readEndings}: the batch is named after it`;
  throw new ApiProblem(422, { kind: 'file_name', problem, fix });
}

function noFile(problem = 'the form does not begin with a file'): ApiProblem {
  return new ApiProblem(422, {
    kind: 'no_file',
    problem,
    fix: `send the ${readNames} file as the only part of the form, or as a body of ${usualTypes.join(' or ')}; name, rows and total.NGN go into the query`,
  });
}
