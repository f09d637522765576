import { type Barrier, barrierKeys, noteFall } from '../core/ledger/barriers.ts';
import { keepMeta, metaOf } from '../core/ledger/meta.ts';
import { isLockConflict, PostgresFailure, wentBackCode } from '../core/storage/failure.ts';
import type { Db, Ledger, Trx } from '../core/storage/ledger.ts';
import { machineOf } from '../core/storage/machine.ts';
import { type Mark, readMark, type StoredMark, whyMoved, writeMark } from './mark.ts';
import { timelineChange, timelineFall } from './timeline.ts';

const everyMs = 1000;

/** P25: notes a fall if the ledger is behind its mark or has another id. The barrier outlives this process. */
export async function noticeFall(trx: Trx, path: string, id: string, at: string): Promise<boolean> {
  const why = (await timelineFall(trx)) ?? (await fallOf(trx, path, id));
  if (why) await noteFall(trx, barrierOf(why, path, at));
  return (await metaOf(trx, barrierKeys.behind)) !== undefined;
}

/** The same for a reader, which records nothing; null also where the fall is recorded already. */
export async function findFall(
  db: Db,
  path: string,
  { id, at }: { id: string; at: string },
): Promise<Barrier | null> {
  if ((await metaOf(db, barrierKeys.behind)) !== undefined) return null;
  const change = await timelineChange(db);
  if (change !== undefined && change !== 'unnoted') return barrierOf(change, path, at);
  // Read twice: another process may write the very first mark between two of the queries that make one answer.
  const why = (await fallOf(db, path, id)) && (await fallOf(db, path, id));
  return why ? barrierOf(why, path, at) : null;
}

function barrierOf(fall: string, path: string, at: string): Barrier {
  const why = `this ledger went back in time (${fall}): it may not know what was sent since`;
  const moved = whyMoved(path);
  if (moved) return { at, why: `${why}. ${moved.why}`, advice: moved.advice };
  return { at, why, advice: { kind: 'adopt' } };
}

async function fallOf(db: Db | Trx, path: string, id: string): Promise<string | undefined> {
  // The mark first: marks are written inside transactions, so that this one is never ahead of the ledger.
  const stored = readMark(path);
  const reached = await lastEntry(db);
  const own = await standingOf(db, path, id);
  switch (stored.kind) {
    case 'unreadable':
      return 'the mark beside it cannot be read';
    case 'absent':
      return reached.id > 0n && (await metaOf(db, own.key)) ? 'the mark beside it is gone' : undefined;
    case 'mark': {
      const { ledger } = stored.mark;
      if (own.outdated.includes(ledger)) return undefined;
      if (ledger !== own.name) return 'another ledger stood in its place before';
      return whyBehind(db, stored.mark, reached.id);
    }
  }
}

/** Why a ledger that reached this entry is not the one that its mark describes; undefined where it is. */
async function whyBehind(
  db: Db | Trx,
  { history, hash }: Mark,
  reached: bigint,
): Promise<string | undefined> {
  if (history > reached) return `it had ${history} entries and now has ${reached}`;
  if (history === 0n) return undefined;
  const same = await db.selectFrom('history').select('hash').where('id', '=', history).executeTakeFirst();
  return same?.hash === hash ? undefined : `entry ${history} of its history is not the one it had`;
}

/** In `meta`: how often a ledger that machines share was adopted. */
export const adoptionsKey = 'adoptions';

/**
 * Identifies this machine's mark. Where machines share a ledger, each has a mark, and an adoption cannot remove the
 * others. So a mark names the adoption that it followed; marks from before a later one are void.
 */
async function standingOf(
  db: Db | Trx,
  path: string,
  id: string,
): Promise<{ key: string; name: string; outdated: string[] }> {
  const machine = machineOf(path);
  if (machine === '') return { key: 'marked', name: id, outdated: [] };
  const adoptions = Number((await metaOf(db, adoptionsKey)) ?? '0');
  const names = Array.from({ length: adoptions + 1 }, (_, n) => (n === 0 ? id : `${id}/${n}`));
  return { key: `marked:${machine}`, name: names.at(-1) ?? id, outdated: names.slice(0, -1) };
}

async function lastEntry(db: Db | Trx): Promise<{ id: bigint; hash: string }> {
  const row = await db
    .selectFrom('history')
    .select(['id', 'hash'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? { id: 0n, hash: '' };
}

type MarkerDeps = {
  write: Ledger['write'];
  path: string;
  id: string;
  now: () => string;
  /** Reads the ledger, where it is a file that somebody can put an older one in place of. */
  file: Db | null;
};

/**
 * Commits, then marks (at most once a second), then returns. So the mark is never more than a second behind what is
 * sent (P25). A write that does not mark compares the ledger with its mark. `flush` writes the mark that is left; it never
 * throws, since nothing is sent after it.
 */
export function createMarker(deps: MarkerDeps): { write: Ledger['write']; flush(): Promise<void> } {
  let markedAt = Number.NaN;
  let behind = false;
  const mark = async (at: number): Promise<void> => {
    // Inside a transaction, so that no process puts an older mark over a newer one.
    await deps.write((trx) => markNow(trx, deps.path, deps.id));
    markedAt = at;
    behind = false;
  };
  return {
    async write(work) {
      const result = await deps.write(work);
      behind = true;
      const at = Date.parse(deps.now());
      // A clock that runs backwards also marks: it must not delay the next mark.
      if (!(Math.abs(at - markedAt) < everyMs)) await mark(at).catch(afterCommit);
      else if (deps.file) await assertNotBehind(deps.file, deps.path, deps.id);
      return result;
    },
    async flush() {
      if (behind) await mark(markedAt).catch(() => undefined);
    },
  };
}

/** Throws {@link WentBack} where the mark says more than the ledger has: an older one was put in its place (P25). */
async function assertNotBehind(db: Db, path: string, id: string): Promise<void> {
  // The mark first: it is never ahead of the ledger that it was written for.
  const stored = markFor(path);
  if (stored.kind !== 'mark' || stored.mark.ledger !== id) return;
  const why = await whyBehind(db, stored.mark, (await lastEntry(db)).id);
  if (why !== undefined) throw new WentBack(path, why);
}

/** Converts a lock conflict of the mark alone: the change itself is committed, so it must not look undone (P12). */
function afterCommit(error: unknown): never {
  throw isLockConflict(error)
    ? new PostgresFailure('UNMARKED', `it could not be marked: ${error.message}`, error)
    : error;
}

/**
 * Writes the mark of the ledger's present state; a disk that refuses counts as a failed ledger (P12). So does a ledger
 * that somebody put back while it was open: its mark must stay, as nothing else knows about the fall.
 */
export async function markNow(trx: Trx, path: string, id: string): Promise<void> {
  const last = await lastEntry(trx);
  const { key, name } = await standingOf(trx, path, id);
  const stored = markFor(path);
  const isCurrent =
    stored.kind === 'mark' &&
    stored.mark.history === last.id &&
    stored.mark.hash === last.hash &&
    stored.mark.ledger === name;
  if (!isCurrent) {
    const isOwn = stored.kind === 'mark' && stored.mark.ledger === name;
    const why = isOwn ? await whyBehind(trx, stored.mark, last.id) : undefined;
    if (why !== undefined) throw new WentBack(path, why);
    try {
      writeMark(path, { ledger: name, history: last.id, hash: last.hash });
    } catch (error) {
      throw new MarkFailed(path, error);
    }
  }
  // Recorded only after the mark exists: a ledger that records a mark and has none went back in time.
  if (!(await metaOf(trx, key))) await keepMeta(trx, key, 'yes');
}

/** Reads the mark for a write. It follows a commit, so a disk that refuses counts as a failed ledger (P12). */
function markFor(path: string): StoredMark {
  try {
    return readMark(path);
  } catch (error) {
    throw new MarkFailed(path, error, 'read');
  }
}

/** The open ledger went back in time; the code stops every caller, as a failed ledger does (P12). */
class WentBack extends Error {
  readonly code = wentBackCode;
  constructor(path: string, why: string) {
    super(`${path} went back in time while it was open: ${why}`);
  }
}

/** Carries one of SQLite's codes, so that it stops every caller that stops when the ledger fails (P12). */
class MarkFailed extends Error {
  readonly code: string;
  constructor(path: string, cause: unknown, use: 'read' | 'written' = 'written') {
    const message = cause instanceof Error ? cause.message : String(cause);
    super(`${path}.mark cannot be ${use}: ${message}`, { cause });
    const code = cause instanceof Error && 'code' in cause ? cause.code : '';
    this.code = code === 'ENOSPC' || code === 'EDQUOT' ? 'SQLITE_FULL' : 'SQLITE_IOERR_MARK';
  }
}
