import type { Generated } from 'kysely';

/** The tables about files beside the ledger; part of the ledger's tables. */
export type FileTables = {
  file_moves: FileMoveTable;
  rejected_files: RejectedFileTable;
  /** The cells that people changed before the file of a batch was taken in. */
  mends: {
    id: Generated<bigint>;
    batch_id: string;
    row_number: bigint;
    column_name: string;
    was: string;
    became: string;
    mended_by: string;
    mended_at: string;
  };
  /** Those who dropped or mended the file before the person who had it taken in (P37). */
  preparers: {
    id: Generated<bigint>;
    batch_id: string;
    name: string;
    uid: bigint | null;
    did: 'dropped' | 'mended';
  };
};

type RejectedFileTable = {
  id: Generated<bigint>;
  kind: FileRejectionKind;
  /** The name under which it was dropped, such as `november.csv` or `collections/november.csv`. */
  name: string;
  /** The refused file, or the sheet of left-out rows: what a person corrects and drops again. */
  place: string;
  /** The sheet of its problems; null where it could not be written. */
  errors_file: string | null;
  problems: bigint;
  /** The number of rows that were left out; 0 for a refused file. */
  rows_left: bigint;
  /** Empty where the file could not be read to its end. */
  content_hash: string;
  /** The batch, or the file of expected collections, that lacks the rows; empty for a refused file. */
  owner: Generated<string>;
  /** The machine whose folders hold the file, where machines share the ledger; otherwise empty. */
  machine: Generated<string>;
  /** When a file of this name was first refused. */
  since: string;
  ended_at: Generated<string | null>;
  ended: Generated<RejectionEnd | null>;
  /** The batch that took it, or the person who acknowledged it. */
  ended_by: Generated<string>;
  note: Generated<string>;
};

/** `refused`: nothing of the file was taken. `left_out`: the batch was taken without some of its rows. */
export type FileRejectionKind = 'refused' | 'left_out';
type RejectionEnd = 'taken' | 'refused_again' | 'acknowledged';

type FileMoveTable = {
  id: Generated<bigint>;
  /** An input file to archive, or a sheet of left-out rows to move from its temporary name to its place. */
  kind: FileTaskKind;
  /** The batch, or the file of expected collections. */
  owner: string;
  source: string;
  target: string;
  /** For an archive: the size and SHA-256 of the bytes that were read; null and empty for a sheet. */
  bytes: Generated<bigint | null>;
  sha256: Generated<string>;
  created_at: string;
  done_at: string | null;
  /** `missing`: the file was in neither place; `differs`: the file at the source is not the one that was read. */
  outcome: Generated<FileTaskOutcome | null>;
  /** The machine whose folders these are, where machines share the ledger; otherwise empty. */
  machine: Generated<string>;
};

export type FileTaskKind = 'archive' | 'errors' | 'invalid';
export type FileTaskOutcome = 'done' | 'missing' | 'differs';

/**
 * Whether a batch's file is still the one that was read (P34).
 *
 * - `due`: not checked yet
 * - `whole`: unchanged at the last check
 * - `changed`, `missing`: it is not, and the batch sends nothing
 * - `accepted`: it is not, and a person released the batch
 * - `begun`: a payout was sent, and checks have ended
 */
export type FileState = 'due' | 'whole' | 'changed' | 'missing' | 'accepted' | 'begun';
