import type { FileHandle } from 'node:fs/promises';
import type { Problem } from '../core/domain/problem.ts';
import type { Header, RequiredColumns } from './header.ts';

/** One record is at most this many bytes. */
export const maxRecordBytes = 131_072;

export type ReadItem =
  | { kind: 'header'; header: Header }
  | { kind: 'row'; row: number; cells: string[] }
  /**
   * A row with the wrong number of cells, or a header that lacks columns. It refuses the file, yet reading
   * goes on.
   */
  | { kind: 'broken'; problem: Problem }
  /** The file cannot be read further. */
  | { kind: 'stop'; problem: Problem };

/** A file whose format is known. `head`: its first bytes, more than the longest record has, or all of them. */
export type OpenFile = {
  file: FileHandle;
  head: Buffer;
  isWhole: boolean;
  maxBytes: number;
  wanted: RequiredColumns;
  /** Receives, in order, all bytes of the file that are sound. */
  seen(bytes: Buffer): void;
};

/** What is wrong with a part of a file, and how to mend it. */
export type FileFault = Pick<Problem, 'problem' | 'fix'>;

/** A file whose header was read. */
export type BegunFile = {
  header: Header;
  problems: Problem[];
  /** All records in order, piece by piece, the header too. A fault ends them, and is in the record after them. */
  records: AsyncGenerator<{ records: string[][]; fault: FileFault | null }>;
  /** A row with exactly the header's cells, or what is wrong with it. */
  shaped(row: number, cells: string[]): ReadItem;
};

/** Reads files of one format. Without a header, its problems are all that can be said. */
export type FormatReader = (open: OpenFile) => Promise<BegunFile | { header: null; problems: Problem[] }>;
