import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { saveAsCsv } from '../core/domain/save-as.ts';
import type { FileFault } from './reader.ts';

type Piece = { kind: 'bytes'; bytes: Buffer } | { kind: 'fault'; fault: FileFault } | { kind: 'end' };

/** Small enough that judging the rows of one piece blocks nothing for long. */
const pieceBytes = 65_536;

/**
 * Reads the file's bytes in whole characters of strict UTF-8. Three faults end it, after the whole lines
 * before them: a NUL, a byte that is not UTF-8, and a file that grows beyond `maxBytes`.
 */
export async function* utf8Pieces(file: FileHandle, maxBytes: number): AsyncGenerator<Piece> {
  let rest: Buffer = Buffer.alloc(0);
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, position);
    position += bytesRead;
    if (position > maxBytes) return yield { kind: 'fault', fault: grown(maxBytes) };
    const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    const end = bytesRead === 0 ? bytes.length : bytes.length - unfinished(bytes);
    const piece = bytes.subarray(0, end);
    rest = bytes.subarray(end);
    const fault = faultIn(piece);
    if (fault) {
      const whole = piece.subarray(0, piece.lastIndexOf(10, fault.at) + 1);
      if (whole.length > 0) yield { kind: 'bytes', bytes: whole };
      return yield { kind: 'fault', fault: fault.fault };
    }
    if (piece.length > 0) yield { kind: 'bytes', bytes: piece };
    if (bytesRead === 0) return yield { kind: 'end' };
  }
}

function grown(maxBytes: number): FileFault {
  const problem = `the file grew beyond ${maxBytes} bytes while it was read`;
  return { problem, fix: 'give it again when it is complete, split if need be, or raise intake.max_bytes' };
}

function faultIn(piece: Buffer): { at: number; fault: FileFault } | null {
  const nul = piece.indexOf(0);
  if (nul !== -1) return { at: nul, fault: nulFault(piece.subarray(nul).every((byte) => byte === 0)) };
  if (isUtf8(piece)) return null;
  const at = firstBadByte(piece);
  const byte = (piece[at] ?? 0).toString(16).toUpperCase();
  const problem = `holds the byte 0x${byte}, which is not UTF-8: the file is Windows-1252 or another 8-bit encoding, perhaps`;
  return { at, fault: { problem, fix: saveAsCsv } };
}

/**
 * The fault of NUL bytes. A program that reserves the space of an upload leaves NULs at its end until it is
 * done.
 */
export function nulFault(isTail: boolean): FileFault {
  return isTail
    ? {
        problem: 'the file ends in NUL bytes: its upload has not finished',
        fix: 'upload it again under another name and rename it to .csv when it is whole',
      }
    : { problem: 'holds a NUL byte: the file is binary or damaged, not text', fix: saveAsCsv };
}

/** Returns the index of the first byte that is not UTF-8, in bytes that have one. */
function firstBadByte(bytes: Buffer): number {
  let good = 0;
  for (let beyond = bytes.length + 1; beyond - good > 1; ) {
    const middle = Math.floor((good + beyond) / 2);
    if (isUtf8(bytes.subarray(0, middle - unfinished(bytes.subarray(0, middle))))) good = middle;
    else beyond = middle;
  }
  return good - unfinished(bytes.subarray(0, good));
}

/** Returns how many bytes at the end begin a character that the next read completes: 0 to 3. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? back : 0;
  }
  return 0;
}
