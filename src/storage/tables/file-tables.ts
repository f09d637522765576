import type { Generated } from 'kysely';

/** The tables about files beside the ledger; part of the ledger's tables. */
export type FileTables = { file_moves: FileMoveTable };

type FileMoveTable = {
  id: Generated<bigint>;
  /** A taken file into the archive, or a sheet of left-out rows, complete under its temporary name, to its place. */
  kind: FileTaskKind;
  /** The batch, or the file of expected collections. */
  owner: string;
  source: string;
  target: string;
  /** Of an archive: the size and SHA-256 of the bytes that were read; null and empty for a sheet. */
  bytes: Generated<bigint | null>;
  sha256: Generated<string>;
  created_at: string;
  done_at: string | null;
  /** `missing`: the file was in neither place; `differs`: what stands at the source is not what was read. */
  outcome: Generated<FileTaskOutcome | null>;
  /** Whose folders these are, where machines share the ledger; else empty. */
  machine: Generated<string>;
};

export type FileTaskKind = 'archive' | 'errors' | 'invalid';
export type FileTaskOutcome = 'done' | 'missing' | 'differs';

/**
 * Whether a batch's file is still what was read (P34). `due`: not looked at yet;
 * `whole`: it was at the last look; `changed`, `missing`: it is not, and nothing goes; `accepted`: it is not, and a person
 * let the batch go; `begun`: a payout was sent, and nobody looks any more.
 */
export type FileState = 'due' | 'whole' | 'changed' | 'missing' | 'accepted' | 'begun';
