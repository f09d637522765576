import { existsSync } from 'node:fs';
import type { AdvisedReason } from '../core/domain/advice.ts';
import type { Mode } from '../core/domain/payout.ts';
import { barrierKeys, noteFall } from '../core/ledger/barriers.ts';
import { dropMeta, ledgerMode } from '../core/ledger/meta.ts';
import { knownMigrations } from '../core/storage/known-migrations.ts';
import { assertMode, readMode } from '../core/storage/schema-version.ts';
import { openDatabase, withDatabase } from '../core/storage/sqlite.ts';
import { adoptingKey } from './adopt.ts';
import { writeRaw } from './make-backup.ts';
import { whyMoved } from './mark.ts';
import { readSeal, type Seal, sealKeys } from './seal.ts';
import { copyBeside, dropCopy, endSwap, finishSwap, swapIn } from './swap.ts';

export type Restored = { kind: 'restored'; aside: string } | { kind: 'unfit'; why: Unfit };

/** Why a file does not replace a ledger, for `words/custody-words.ts`. */
export type Unfit =
  | { kind: 'no_file'; file: string }
  /** The ledger in place moved: a restore belongs to the place that `why` names. */
  | { kind: 'moved_on'; why: string }
  | { kind: 'moved_from_here'; reason: AdvisedReason }
  | { kind: 'flawed'; file: string; flaw: Flaw };

type Flaw =
  | { kind: 'no_database' | 'no_ledger' | 'archive' }
  | { kind: 'newer'; change: string }
  | { kind: 'damaged'; damage: string }
  | { kind: 'sealed'; target: string };

/**
 * Puts the ledger file `file` in the place of the one at `path`, which moves aside; the gate must be shut. It checks
 * the copy before it touches anything, and raises the barrier of P25 in it before it is in place. Throws OtherMode if
 * the file is not of `mode` (P24).
 */
export async function restoreLedger(path: string, file: string, at: string, mode?: Mode): Promise<Restored> {
  if (!existsSync(file)) return { kind: 'unfit', why: { kind: 'no_file', file } };
  const seal = sealInPlace(path);
  // A sealed file in the very place to which its ledger moved is no longer a ledger: another may replace it.
  if (seal && !seal.here) return { kind: 'unfit', why: { kind: 'moved_on', why: seal.why } };
  const moved = seal ? null : whyMoved(path);
  if (moved) return { kind: 'unfit', why: { kind: 'moved_from_here', reason: moved } };
  try {
    const copy = copyBeside(file, path);
    const flaw = flawOf(copy);
    if (flaw) {
      dropCopy(path);
      return { kind: 'unfit', why: { kind: 'flawed', file, flaw } };
    }
    assertMode(file, await writeRaw(copy, ledgerMode), mode);
    const why = `this ledger was restored from ${file} at ${at}: it does not know what was sent since`;
    await writeRaw(copy, async (trx) => {
      await noteFall(trx, { at, why, advice: { kind: 'adopt' } });
      // A backup of a half-adopted ledger is adopted from the beginning.
      await dropMeta(trx, [adoptingKey]);
    });
  } catch (error) {
    dropCopy(path);
    throw error;
  }
  swapIn(path, at.replaceAll(/[-:.]/g, ''));
  return { kind: 'restored', aside: await finishRestore(path, at) };
}

/** Finishes a restore, also an interrupted one. Returns the path of the previous ledger. */
export async function finishRestore(path: string, at: string): Promise<string> {
  const aside = finishSwap(path);
  // Before the new one may be opened: otherwise a crash would leave two ledgers that may both send.
  await fenceOff(aside, at);
  endSwap(path);
  return aside;
}

/**
 * Raises the barrier in the ledger that moved aside, in case someone moves it back: two ledgers must not both send. A
 * ledger too damaged for that is also too damaged to send.
 */
async function fenceOff(aside: string, at: string): Promise<void> {
  if (!existsSync(aside)) return;
  const why = `another ledger was restored in its place at ${at}: it does not know what was sent since`;
  try {
    await writeRaw(aside, (trx) => noteFall(trx, { at, why, advice: { kind: 'adopt' } }));
  } catch {
    // Best effort: a restore must not fail because of the ledger that it replaces.
  }
}

/** Why a file cannot replace a ledger; null when it can. Opens it for writing, so pass a copy. */
function flawOf(copy: string): Flaw | null {
  let database: ReturnType<typeof openDatabase>;
  try {
    database = openDatabase(copy);
  } catch {
    return { kind: 'no_database' };
  }
  try {
    const tables = new Set(
      database.prepare(`select name from sqlite_master where type = 'table'`).pluck().all(),
    );
    if (!['meta', 'payouts', 'history', 'kysely_migration'].every((name) => tables.has(name)))
      return { kind: 'no_ledger' };
    const done = database.prepare('select name from kysely_migration order by name').pluck().all();
    const strange = done.find((name) => typeof name !== 'string' || !knownMigrations().includes(name));
    if (strange !== undefined) return { kind: 'newer', change: JSON.stringify(strange) };
    const sound = database.pragma('quick_check(1)', { simple: true });
    if (sound !== 'ok') return { kind: 'damaged', damage: String(sound) };
    const mode = database.prepare("select value from meta where key = 'mode'").pluck().get();
    readMode('it', typeof mode === 'string' ? mode : undefined);
    const seal = sealOf(database, copy);
    if (!seal) return null;
    // An archive is sealed too, and its ledger moved nowhere.
    return seal.target === '' ? { kind: 'archive' } : { kind: 'sealed', target: seal.target };
  } catch (error) {
    return { kind: 'damaged', damage: error instanceof Error ? error.message : String(error) };
  } finally {
    database.close();
  }
}

/** The seal of the ledger in place; undefined also if the file is too damaged to read. */
function sealInPlace(path: string): Seal | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return withDatabase(path, (database) => sealOf(database, path));
  } catch {
    return undefined;
  }
}

function sealOf(database: ReturnType<typeof openDatabase>, path: string): Seal | undefined {
  const value = (key: string): string | undefined => {
    const row = database.prepare('select value from meta where key = ?').pluck().get(key);
    return typeof row === 'string' ? row : undefined;
  };
  const sealed = value(barrierKeys.sealed);
  return sealed === undefined ? undefined : readSeal(sealed, value(sealKeys.target) ?? '', path);
}
