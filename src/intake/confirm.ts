import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { FileWait } from '../core/domain/waiting-file.ts';
import {
  type ArchivedBatch,
  archivedBatch,
  batchesAwaitingLook,
  batchesToConfirm,
  setFileState,
} from '../core/ledger/batch-files.ts';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger, Trx } from '../core/storage/ledger.ts';
import { holdBatch } from '../sending/holds.sql.ts';
import { openWriters } from './open-writers.ts';

type Deps = { ledger: Ledger; config: Config; clock: Clock };

type Finding =
  | { kind: 'whole' }
  /**
   * `late`: how many bytes were appended after reading, and the line where they begin; null for any other
   * change.
   */
  | { kind: 'changed'; late: { bytes: number; line: number } | null }
  | { kind: 'missing' };

/**
 * Checks the archived files of batches that could go now, before the first payout of each is sent (P34). A
 * file must have the size and hash that intake read, and no process may have it open for writing. A batch
 * whose file changed is held with the reason; one whose file is open waits. Never inside a transaction. `day`: the newest
 * whose payouts may go; a file that waits for a later one is looked at then.
 */
export async function confirmFiles(deps: Deps, day: string): Promise<void> {
  const { ledger } = deps;
  const batches = await batchesToConfirm(ledger.db, day);
  if (batches.length === 0) return;
  const writers = await openWriters(batches.map(({ path }) => path));
  for (const batch of batches) {
    if (!writers.has(batch.path)) await judge(deps, batch);
    else if (batch.state === 'whole') await ledger.write((trx) => setFileState(trx, batch.batch, 'due'));
  }
}

export type BatchFileWait = { batch: string; count: number; why: FileWait };

/** Returns the batches whose files {@link confirmFiles} cannot check now, and why. Writes nothing. */
export async function fileWaits(ledger: Ledger, day: string): Promise<BatchFileWait[]> {
  const batches = await batchesAwaitingLook(ledger.db, day);
  if (batches.length === 0) return [];
  const writers = await openWriters(batches.map(({ path }) => path));
  return batches.flatMap(({ batch, count, archive, path }): BatchFileWait[] => {
    if (archive === 'elsewhere') return [{ batch, count, why: { kind: 'elsewhere' } }];
    if (archive === 'not_yet') return [{ batch, count, why: { kind: 'not_archived', path } }];
    const open = writers.get(path);
    return open ? [{ batch, count, why: { kind: 'open', path, writers: open } }] : [];
  });
}

/**
 * Checks the file of one batch just after its move to the archive. Returns the reason to hold the batch, if
 * any.
 */
export async function confirmArchived(deps: Deps, id: string): Promise<HoldReason | null> {
  const batch = await archivedBatch(deps.ledger.db, id);
  return batch ? judge(deps, batch) : null;
}

async function judge({ ledger, config, clock }: Deps, batch: ArchivedBatch): Promise<HoldReason | null> {
  const found = await look(batch, config);
  const note = (trx: Trx): Promise<boolean> => setFileState(trx, batch.batch, found.kind);
  if (found.kind === 'whole') {
    if (batch.state !== 'whole') await ledger.write(note);
    return null;
  }
  const reason = reasonOf(batch, found);
  await holdBatch(ledger, { batch: batch.batch, reason, at: clock.iso(), source: 'brake', finding: note });
  return reason;
}

/** Compares the file in the archive with what intake read. */
async function look({ path, bytes, sha256, outcome }: ArchivedBatch, { intake }: Config): Promise<Finding> {
  const stats = await stat(path, { bigint: true }).catch(() => null);
  if (outcome !== 'done' || !stats?.isFile()) return { kind: 'missing' };
  if (stats.size === bytes && (await (await import('./read.ts')).bytesHashOf(path, intake)) === sha256)
    return { kind: 'whole' };
  if (stats.size <= bytes) return { kind: 'changed', late: null };
  const grown = stats.size - bytes;
  return { kind: 'changed', late: { bytes: Number(grown), line: await lineAt(path, Number(bytes)) } };
}

/** Returns the line number, from 1, of the byte after the first `bytes`. */
async function lineAt(path: string, bytes: number): Promise<number> {
  let line = 1;
  for await (const piece of createReadStream(path, { start: 0, end: bytes - 1 }))
    for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) line += 1;
  return line;
}

function reasonOf(
  { path, source, outcome }: ArchivedBatch,
  finding: Exclude<Finding, { kind: 'whole' }>,
): HoldReason {
  if (finding.kind === 'changed' && finding.late) return { kind: 'file_grown', path, ...finding.late };
  if (finding.kind === 'changed') return { kind: 'file_changed', path };
  return outcome === 'differs' ? { kind: 'file_not_archived', path: source } : { kind: 'file_missing', path };
}
