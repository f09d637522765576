import { type Barrier, barrierKeys, noteFall } from '../ledger/barriers.ts';
import { isLockConflict, PostgresFailure } from '../storage/failure.ts';
import type { Db, Ledger, Trx } from '../storage/ledger.ts';
import { machineOf } from '../storage/machine.ts';
import { readMark, whyMoved, writeMark } from './mark.ts';
import { timelineChange, timelineFall } from './timeline.ts';

/** At most one mark in so many milliseconds. */
const everyMs = 1000;

/** P25: a ledger behind its mark, or of another id, went back in time; the barrier outlives this process. */
export async function noticeFall(trx: Trx, path: string, id: string, at: string): Promise<boolean> {
  const why = (await timelineFall(trx)) ?? (await fallOf(trx, path, id));
  if (why) await noteFall(trx, { at, cause: causeOf(why, path) });
  return (await metaOf(trx, barrierKeys.behind)) !== undefined;
}

/** The same for what only reads, and so notes nothing; null also where it is noted already. */
export async function findFall(
  db: Db,
  path: string,
  { id, at }: { id: string; at: string },
): Promise<Barrier | null> {
  if ((await metaOf(db, barrierKeys.behind)) !== undefined) return null;
  const change = await timelineChange(db);
  if (change !== undefined && change !== 'unnoted') return { at, cause: causeOf(change, path) };
  // Asked twice: another process may write the very first mark between the questions that one answer is made of.
  const why = (await fallOf(db, path, id)) && (await fallOf(db, path, id));
  return why ? { at, cause: causeOf(why, path) } : null;
}

function causeOf(why: string, path: string): string {
  const wayOut = whyMoved(path) ?? 'counterfoil restore --adopt makes it safe to use';
  return `this ledger went back in time (${why}): it may not know what was sent since. ${wayOut}`;
}

async function fallOf(db: Db | Trx, path: string, id: string): Promise<string | undefined> {
  // Read before the ledger is asked: marks are written inside transactions, so that this one is never ahead of it.
  const found = readMark(path);
  const reached = await lastEntry(db);
  const own = await standingOf(db, path, id);
  switch (found.kind) {
    case 'unreadable':
      return 'the mark beside it cannot be read';
    case 'absent':
      return reached.id > 0n && (await metaOf(db, own.key)) ? 'the mark beside it is gone' : undefined;
    case 'mark': {
      const { ledger, history, hash } = found.mark;
      if (own.outdated.includes(ledger)) return undefined;
      if (ledger !== own.name) return 'another ledger stood in its place before';
      if (history > reached.id) return `it had ${history} entries and now has ${reached.id}`;
      if (history === 0n) return undefined;
      const same = await db.selectFrom('history').select('hash').where('id', '=', history).executeTakeFirst();
      return same?.hash === hash ? undefined : `entry ${history} of its history is not the one it had`;
    }
  }
}

/** In `meta`: how often a ledger that machines share was adopted. */
export const adoptionsKey = 'adoptions';

/**
 * What this machine's mark is about. Where machines share a ledger each has a mark, and who adopts cannot take away the
 * marks of the others: a mark names the adoption it was written after, and those from before a later one are void.
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

async function metaOf(db: Db | Trx, key: string): Promise<string | undefined> {
  return (await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst())?.value;
}

/**
 * Commit, then mark (at most once a second), then return: so nothing is sent that the mark is a second behind of
 * (P25). `flush` marks what the last second left; it never throws, since nothing is sent after it.
 */
export function createMarker(deps: { write: Ledger['write']; path: string; id: string; now: () => string }): {
  write: Ledger['write'];
  flush(): Promise<void>;
} {
  let markedAt = Number.NaN;
  let behind = false;
  const mark = async (at: number): Promise<void> => {
    // Inside a transaction, so that of two processes neither can put an older mark over a newer one.
    await deps.write((trx) => markNow(trx, deps.path, deps.id));
    markedAt = at;
    behind = false;
  };
  return {
    async write(work) {
      const result = await deps.write(work);
      behind = true;
      const at = Date.parse(deps.now());
      // A clock that runs backwards marks again: it must not put the next mark off.
      if (!(Math.abs(at - markedAt) < everyMs)) await mark(at).catch(afterCommit);
      return result;
    },
    async flush() {
      if (behind) await mark(markedAt).catch(() => undefined);
    },
  };
}

/** What was in the way of the mark alone is no sign that nothing happened: the change is committed (P12). */
function afterCommit(error: unknown): never {
  throw isLockConflict(error)
    ? new PostgresFailure('UNMARKED', `it could not be marked: ${error.message}`, error)
    : error;
}

/** Writes the mark of what this ledger holds; a disk that refuses is a ledger that failed (P12). */
export async function markNow(trx: Trx, path: string, id: string): Promise<void> {
  const last = await lastEntry(trx);
  const { key, name } = await standingOf(trx, path, id);
  const found = readMark(path);
  const told =
    found.kind === 'mark' &&
    found.mark.history === last.id &&
    found.mark.hash === last.hash &&
    found.mark.ledger === name;
  if (!told) {
    try {
      writeMark(path, { ledger: name, history: last.id, hash: last.hash });
    } catch (error) {
      throw new MarkFailed(path, error);
    }
  }
  // Said only once the mark is there: a ledger that says it is marked and has no mark went back in time.
  if (!(await metaOf(trx, key))) {
    await trx
      .insertInto('meta')
      .values({ key, value: 'yes' })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
  }
}

/** Told in SQLite's terms, so that whoever stops when the ledger fails stops here too (P12). */
class MarkFailed extends Error {
  readonly code: string;
  constructor(path: string, cause: unknown) {
    const said = cause instanceof Error ? cause.message : String(cause);
    super(`${path}.mark cannot be written: ${said}`, { cause });
    const code = cause instanceof Error && 'code' in cause ? cause.code : '';
    this.code = code === 'ENOSPC' || code === 'EDQUOT' ? 'SQLITE_FULL' : 'SQLITE_IOERR_MARK';
  }
}
