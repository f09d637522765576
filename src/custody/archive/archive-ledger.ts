import { chmodSync, existsSync, mkdirSync, renameSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { closedPeriods } from '../../books/periods.sql.ts';
import type { AdvisedReason } from '../../core/domain/advice.ts';
import { barrierKeys, findBarrier } from '../../core/ledger/barriers.ts';
import { areUndelivered } from '../../core/ledger/event-places.ts';
import { archivePath } from '../../core/storage/archive-file.ts';
import { countRows } from '../../core/storage/counting.ts';
import type { Db, Ledger } from '../../core/storage/ledger.ts';
import { withDatabase } from '../../core/storage/sqlite.ts';
import { syncFolder } from '../../core/storage/sync-folder.ts';
import type { Period } from '../../core/storage/tables/period-tables.ts';
import type { LedgerProblem } from '../ledger-problem.ts';
import { markNow } from '../marking.ts';
import { openLedger } from '../open-ledger.ts';
import { batchDigests } from '../seal.ts';
import { removeFile, syncFile } from '../swap.ts';
import { type Verification, verifyArchive } from '../verify-ledger.ts';
import { archivableBatches, archivableRuns, type Load } from './archivable.ts';
import { copyParts } from './archive-copy.ts';
import { archiveAmounts, fileDigest } from './archive-facts.ts';
import { stripLedger } from './strip-ledger.ts';

export type ArchiveRequest = {
  path: string;
  /** ISO UTC: months that ended by then are archived. */
  before: string;
  now: () => string;
  /** Told before each step that may take long. */
  onStep?: (step: ArchiveStep) => void;
};
export type ArchiveStep = 'copy' | 'prove' | 'strip' | 'shrink';

export type Archived =
  | Refused
  /** Every month by then is archived as far as it can be; `left`: batches of those months that have something open. */
  | { kind: 'nothing'; month: string; left: number }
  | {
      kind: 'archived';
      file: string;
      month: string;
      batches: number;
      payouts: number;
      runs: number;
      left: number;
      bytes: { before: number; after: number; archive: number };
    };

/**
 * Moves what closed months no longer need out of the ledger into a file beside it. The caller has shut the gate. The file
 * is written, made durable and proven first. Then one transaction takes it out of the ledger and ends the intent (P34).
 * Whatever dies, all of it is in the ledger or all of it is in the archive, and the same call again finishes.
 */
export async function archiveLedger(request: ArchiveRequest): Promise<Archived> {
  const { path, now, onStep = () => undefined } = request;
  const ledger = await openLedger(path, { now, alone: 'owner' });
  try {
    await dropUnfinished(ledger);
    const barrier = await findBarrier(ledger.db);
    if (barrier) return refused({ kind: 'barrier', reason: barrier });
    const period = await lastPeriodBefore(ledger.db, request.before);
    if (!period) return refused({ kind: 'no_closed_month' });
    if (await areUndelivered(ledger.db, period.through_history)) return refused({ kind: 'undelivered' });
    const load = await loadOf(ledger.db, period);
    const left = await countLeft(ledger.db, period, load.batches);
    if (load.batches.length === 0 && load.frozenThrough === 0n) {
      shrink(path, onStep);
      return { kind: 'nothing', month: period.month, left };
    }
    const bytes = statSync(path).size;
    const lack = roomLacking(path, bytes);
    if (lack !== null) return refused(lack);
    const done = await moveOut(ledger, { ...request, onStep, load, period });
    if (done.kind === 'refused') return done;
    shrink(path, onStep);
    const after = { before: bytes, after: statSync(path).size, archive: statSync(done.file).size };
    return { ...done, month: period.month, left, bytes: after };
  } finally {
    await ledger.close();
  }
}

type Work = ArchiveRequest & { load: Load; period: Period; onStep(step: ArchiveStep): void };
/** Why nothing is archived, for `words/custody-words.ts`. */
export type ArchiveRefusal =
  /** It stops archiving, and says what lifts it. */
  | { kind: 'barrier'; reason: AdvisedReason }
  | { kind: 'no_closed_month' | 'undelivered' }
  | { kind: 'no_room'; folder: string; free: number; need: number }
  | { kind: 'archive_differs'; how: Unlike };

type Unlike =
  | { kind: 'batches'; archived: number; of: number }
  | { kind: 'batch'; batch: string }
  | { kind: 'unsound'; problem: LedgerProblem };

type Refused = { kind: 'refused'; why: ArchiveRefusal };
const refused = (why: ArchiveRefusal): Refused => ({ kind: 'refused', why });
type MovedOut = Refused | { kind: 'archived'; file: string; batches: number; payouts: number; runs: number };

async function moveOut(ledger: Ledger, work: Work): Promise<MovedOut> {
  const { path, now, onStep, load, period } = work;
  const file = await newName(ledger.db, path, period.month);
  const target = archivePath({ path }, file);
  const id = await ledger.write(async (trx) => {
    const row = { file, through_history: period.through_history, begun_at: now(), done_at: null };
    const { id: made } = await trx
      .insertInto('archives')
      .values(row)
      .returning('id')
      .executeTakeFirstOrThrow();
    return made;
  });
  const partial = `${target}.partial`;
  onStep('copy');
  await writeCopy(ledger, partial, work);
  onStep('prove');
  const proof = await verifyArchive(partial);
  const how = await findUnlike(ledger.db, proof, load);
  if (how !== null) {
    await dropUnfinished(ledger);
    return refused({ kind: 'archive_differs', how });
  }
  const amounts = await archiveAmounts(ledger.db, partial);
  const sha256 = await fileDigest(partial);
  renameSync(partial, target);
  syncFolder(target);
  // P25: an older mark may be at an entry that goes, and a kill after that would look like a fall back in time.
  await ledger.write((trx) => markNow(trx, path, ledger.id));
  onStep('strip');
  withDatabase(path, (database) => {
    nameBatches(database, load.batches);
    stripLedger(database, { archive: id, frozen: load.frozenThrough, at: now(), sha256, amounts });
  });
  const payouts = proof.batches.reduce((sum, batch) => sum + batch.payouts, 0);
  const runs = await countRows(ledger.db.selectFrom('runs').where('archive_id', '=', id));
  return { kind: 'archived', file: target, batches: load.batches.length, payouts, runs };
}

/** Writes the archive to `partial`, complete and durable, sealed so that it can never send. */
async function writeCopy(ledger: Ledger, partial: string, { path, load, period, now }: Work): Promise<void> {
  const folder = dirname(partial);
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  removeFile(partial);
  await (await openLedger(partial, { now, alone: 'copy', mode: ledger.mode })).close();
  withDatabase(path, (database) => {
    database.prepare('attach database ? as archive').run(partial);
    nameBatches(database, load.batches);
    database.transaction(() => {
      copyParts(database, { frozen: load.frozenThrough, through: period.through_history });
      const cause = 'this is an archive of closed months: it can be read, and it never sends';
      database
        .prepare(`insert or replace into archive.meta (key, value)
          select key, value from main.meta where key in ('ledger_id', 'birth', 'mode')
          union all values (?, ?)`)
        .run(barrierKeys.sealed, `${now()} ${cause}`);
    })();
  });
  // One file without a log: it can be copied by any means, and reading it changes nothing.
  withDatabase(partial, (copy) => copy.pragma('journal_mode = DELETE'));
  chmodSync(partial, 0o600);
  syncFile(partial);
}

function nameBatches(database: Database.Database, batches: readonly string[]): void {
  database.exec('create temp table archived (id text primary key not null)');
  const insert = database.prepare('insert into temp.archived (id) values (?)');
  for (const batch of batches) insert.run(batch);
}

/** Compares what was proven of the archive with the ledger; null when it is the same. */
async function findUnlike(db: Db, { checks, batches }: Verification, load: Load): Promise<Unlike | null> {
  const [problem] = checks.flatMap((check) => check.problems);
  if (problem) return { kind: 'unsound', problem };
  const there = new Map(batches.map((one) => [one.batch, `${one.payouts} ${one.digest}`]));
  if (there.size !== load.batches.length)
    return { kind: 'batches', archived: there.size, of: load.batches.length };
  for await (const { batch, payouts, digest } of batchDigests(db)) {
    const proven = there.get(batch);
    if (proven !== undefined && proven !== `${payouts} ${digest}`) return { kind: 'batch', batch };
  }
  return null;
}

/** Forgets archives that were begun and not finished: the ledger still has all of what they were to hold. */
async function dropUnfinished(ledger: Ledger): Promise<void> {
  const rows = await ledger.db
    .selectFrom('archives')
    .select(['id', 'file'])
    .where('done_at', 'is', null)
    .execute();
  for (const { id, file } of rows) {
    const target = archivePath(ledger, file);
    removeFile(`${target}.partial`);
    removeFile(target);
    await ledger.write((trx) => trx.deleteFrom('archives').where('id', '=', id).execute());
  }
}

async function loadOf(db: Db, period: Period): Promise<Load> {
  const newest = await db
    .selectFrom('runs')
    .select((on) => on.fn.max<bigint | null>('frozen').as('frozen'))
    .where('archive_id', 'is not', null)
    .executeTakeFirst();
  const through = await archivableRuns(db, period.ends_at);
  const batches = await archivableBatches(db, period.through_history);
  return { batches, frozenThrough: through > (newest?.frozen ?? 0n) ? through : 0n };
}

async function lastPeriodBefore(db: Db, before: string): Promise<Period | undefined> {
  return (await closedPeriods(db)).findLast(({ ends_at }) => ends_at <= before);
}

/** How many batches that came in before the month ended stay. */
async function countLeft(db: Db, { ends_at }: Period, moved: readonly string[]): Promise<number> {
  const kept = db.selectFrom('batches').where('archive_id', 'is', null);
  return (await countRows(kept.where('created_at', '<', ends_at))) - moved.length;
}

/** A name that no archive has, wherever its file lies now: it must be possible to put each back. */
async function newName(db: Db, path: string, month: string): Promise<string> {
  const rows = await db.selectFrom('archives').select('file').execute();
  const known = new Set(rows.map(({ file }) => file));
  const stem = `${basename(path).replace(/\.[^.]*$/, '')}-${month}`;
  for (let n = 1; ; n++) {
    const file = `${stem}${n === 1 ? '' : `-${n}`}.db`;
    if (!known.has(file) && !existsSync(archivePath({ path }, file))) return file;
  }
}

/** The archive, the log of its removal and the shrinking may each need as much as the ledger. */
function roomLacking(path: string, bytes: number): ArchiveRefusal | null {
  const folder = dirname(path);
  const { bavail, bsize } = statfsSync(folder);
  const [free, need] = [bavail * bsize, bytes * 2];
  return free >= need ? null : { kind: 'no_room', folder, free, need };
}

/** Gives the disk back what the ledger no longer fills, if that is worth the time. */
function shrink(path: string, onStep: (step: ArchiveStep) => void): void {
  withDatabase(path, (database) => {
    const [free, all] = ['freelist_count', 'page_count'].map((name) =>
      Number(database.pragma(name, { simple: true })),
    );
    if ((free ?? 0) * 10 < (all ?? 0)) return;
    onStep('shrink');
    database.exec('vacuum');
    database.pragma('wal_checkpoint(TRUNCATE)');
  });
}
