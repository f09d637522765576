import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { Zip, type ZipInputFile } from 'fflate';
import type { Write } from '../../../core/storage/atomic-file.ts';

/** A file in the archive, written piece by piece. The next one starts when this one has ended. */
export type ArchiveFile = { add(texts: Iterable<string>): Promise<void>; end(): Promise<void> };

/** Rows compress well at this level. Higher ones take twice the time for a tenth of the size. */
const level = 3;
/** Texts are collected in reused blocks of this many bytes. Each block is one call to the compressing thread. */
const blockSize = 2 ** 18;
/** How many bytes may wait for that thread, so that neither side waits for the other. */
const atOnce = 2 ** 20;
/** The largest file or archive that the records can express (APPNOTE 4.4.8); readers misread larger ones. */
const largest = 2 ** 32 - 1;

/**
 * Creates a zip archive in one pass. Added data is compressed outside this thread and passed to `write`, so nothing stays
 * in memory. Every entry has the earliest date of the format, so that the bytes depend on the content alone. Throws when
 * it would become too large for a reader.
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
