import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { Zip, type ZipInputFile } from 'fflate';
import type { Write } from '../atomic-file.ts';

/** A file in the archive, added piece by piece. The next one begins when this one has ended. */
export type ArchiveFile = { add(texts: Iterable<string>): Promise<void>; end(): Promise<void> };

/** Rows compress well at once: the levels above take twice the time for a tenth of the size. */
const level = 3;
/** Texts are gathered in blocks of so many bytes, which are used again: each is a call of the thread that compresses. */
const blockSize = 2 ** 18;
/** So many bytes may wait for that thread, so that neither waits for the other. */
const atOnce = 2 ** 20;
/** No file and no archive may be larger than the records can tell (APPNOTE 4.4.8): readers would take it for another. */
const largest = 2 ** 32 - 1;

/**
 * A zip archive in one pass: what is added is compressed outside this thread and handed to `write`, so that nothing of
 * it stays in memory. Every entry carries the first instant that an archive can name, so that the bytes depend on the
 * content alone. Throws where it would become too large for a reader.
 */
export function createArchive(write: Write) {
  const ready: Uint8Array[] = [];
  let total = 0;
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    ready.push(chunk);
  });

  async function flush(): Promise<void> {
    for (const chunk of ready.splice(0)) {
      total += chunk.length;
      await write(chunk);
    }
    if (total > largest) throw new Error(`larger than ${largest} bytes, which a zip archive cannot tell`);
  }

  function file(filename: string): ArchiveFile {
    // Local time, as the archive has no zone: the same digits wherever it is written.
    const entry: ZipInputFile = { filename, size: 0, crc: 0, compression: 8, mtime: new Date(1980, 0, 1) };
    zip.add(entry);
    const deflate = createDeflateRaw({ level, chunkSize: 2 ** 18 });
    deflate.on('data', (chunk: Buffer) => entry.ondata?.(null, new Uint8Array(chunk), false));
    const ended = finished(deflate);
    // The call that ends the file throws this error. Until then it must only not crash the process.
    ended.catch(() => undefined);
    const spare: Buffer<ArrayBuffer>[] = [];
    let block: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(blockSize);
    let used = 0;
    const compress = async (bytes: Buffer, done?: () => void): Promise<void> => {
      entry.crc = crc32(bytes, entry.crc);
      entry.size += bytes.length;
      if (entry.size > largest) throw new Error(`${filename} is larger than ${largest} bytes`);
      deflate.write(bytes, done);
      if (deflate.writableLength > atOnce) await Promise.race([once(deflate, 'drain'), ended]);
      await flush();
    };
    const handOver = async (): Promise<void> => {
      const full = block;
      const bytes = full.subarray(0, used);
      block = spare.pop() ?? Buffer.allocUnsafeSlow(blockSize);
      used = 0;
      await compress(bytes, () => void spare.push(full));
    };
    return {
      async add(texts) {
        for (const text of texts) {
          const most = text.length * 3;
          if (used + most > blockSize) await handOver();
          if (most > blockSize) await compress(Buffer.from(text));
          else used += block.write(text, used);
        }
      },
      async end() {
        await handOver();
        deflate.end();
        await ended;
        entry.ondata?.(null, new Uint8Array(0), true);
        await flush();
      },
    };
  }

  async function end(): Promise<void> {
    zip.end();
    await flush();
  }

  return { file, end };
}
