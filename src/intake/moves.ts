import { copyFile, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Config } from '../config.ts';
import { harmlessName } from '../domain/file-name.ts';
import { forbiddenPlace } from '../domain/forbidden.ts';
import { submitCommand } from '../domain/go-on.ts';
import type { Mode } from '../domain/payout.ts';
import { findFile } from '../ledger/collections/expectations.ts';
import type { Ledger } from '../ledger/open.ts';
import { closeMove, type FileMove, getBatch, openMoves } from '../ledger/payouts/batches.ts';
import type { Clock } from '../runtime/clock.ts';
import { expectationHash } from './collections-rows.ts';
import { syncFolder } from './csv-file.ts';
import { collectionsFolder } from './inbox.ts';
import { spreadsheetEnding } from './not-csv.ts';
import { bytesHashOf } from './read.ts';
import { checkedRows } from './rows.ts';
import { rowRules } from './scan.ts';
import { unreadableCode } from './unreadable.ts';

/** Whether a regular file stands there; a link, folder or pipe is none. */
export async function isPlainFile(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile();
  } catch (error) {
    if (unreadableCode(error)) return false;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/** The ending under which a refused file is kept: that of a spreadsheet, else `.csv`. */
export function endingOf(path: string): string {
  return spreadsheetEnding.test(path) ? extname(path) : '.csv';
}

/** `NAME.csv`, or `NAME-2.csv` and so on: a stem under which none of these endings exists in the folder. */
export async function freeStem(folder: string, fileName: string, endings: string[]): Promise<string> {
  const stem = harmlessName(fileName)
    .replace(/\.csv$/i, '')
    .replace(spreadsheetEnding, '');
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? stem : `${stem}-${n}`;
    const found = await Promise.all(endings.map((ending) => exists(join(folder, candidate + ending))));
    if (!found.includes(true)) return candidate;
  }
}

/** Moves a file, also to another file system; both folders are synced. */
export async function moveFile(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  try {
    await rename(source, target);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    await copyWhole(source, target);
    await rm(source);
  }
  await syncFolder(dirname(target));
  await syncFolder(dirname(source));
}

async function copyWhole(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const temporary = join(dirname(target), `.${basename(target)}.tmp`);
  await copyFile(source, temporary);
  const handle = await open(temporary, 'r');
  await handle.sync();
  await handle.close();
  await rename(temporary, target);
  await syncFolder(dirname(target));
}

/** The file that was taken a moment ago; others are known by their content alone. */
type JustTaken = { path: string; bytesHash: string };

/**
 * Finishes the moves of taken files that were decided in the ledger (P23). A file from the inbox moves, a named one is
 * copied. What stands at the source now is touched only when it is still the content that was taken.
 */
export async function finishOpenMoves(deps: {
  ledger: Ledger;
  config: Config;
  clock: Clock;
  inbox: string;
  taken?: JustTaken;
}): Promise<number> {
  const { ledger, config, clock, inbox } = deps;
  const moves = await openMoves(ledger.db);
  for (const move of moves) {
    const fromInbox = [inbox, join(inbox, collectionsFolder)].includes(dirname(move.source));
    await finishMove(deps, move, fromInbox).catch((error: unknown) => {
      const forbidden = forbiddenPlace(error);
      throw forbidden ? new Error(unmovedText(move, forbidden.why, config.mode), { cause: error }) : error;
    });
    await ledger.write((trx) => closeMove(trx, move.id, clock.iso()));
  }
  return moves.length;
}

async function finishMove(
  deps: { ledger: Ledger; config: Config; taken?: JustTaken },
  move: FileMove,
  fromInbox: boolean,
): Promise<void> {
  const read = await markOf(move.source);
  if (!(await exists(move.target)) && (await stillTaken(deps, move))) {
    // A link that was named would be archived as a link, to a file that anybody may change or remove.
    if (!fromInbox || !(await isPlainFile(move.source))) await copyWhole(move.source, move.target);
    else {
      await moveFile(move.source, move.target);
      if ((await markOf(move.target)) !== read) await putBack(move);
    }
  }
  if (fromInbox && !(await exists(move.source))) await tidyMarkers(move.source, move.target);
}

/** Who reads only that a folder is closed may drop the file again, or pay another way. */
function unmovedText({ source, target }: FileMove, why: string, mode: Mode): string {
  const id = basename(target).split('--')[0] ?? '';
  return `${harmlessName(basename(source))} is recorded as ${id}, but cannot be brought from ${dirname(source)} to ${dirname(target)} (${why}). Nothing is lost, and this run sent nothing: make the folders writable for this account, then go on with ${submitCommand(mode)} (without the file, which is taken only once)`;
}

/** Tells a file from one that took its place, also after a move within a file system; empty for none. */
async function markOf(path: string): Promise<string> {
  const found = await lstat(path, { bigint: true }).catch(() => null);
  return found ? `${found.ino} ${found.size} ${found.mtimeNs}` : '';
}

/**
 * Between reading a file and moving it another may have taken its name: it was never read, and in the archive it would
 * be a batch that nobody sends.
 */
async function putBack({ source, target }: FileMove): Promise<void> {
  const folder = dirname(source);
  const stem = await freeStem(folder, basename(source), ['.csv']);
  await moveFile(target, join(folder, `${stem}.csv`));
}

/** What came with the file: its `.done` marker has served, its control figures go along. */
export async function tidyMarkers(source: string, target: string): Promise<void> {
  if (await isPlainFile(`${source}.done`)) await rm(`${source}.done`, { force: true });
  if (await isPlainFile(`${source}.control.json`))
    await moveFile(`${source}.control.json`, `${target}.control.json`);
}

async function stillTaken(
  { ledger, config, taken }: { ledger: Ledger; config: Config; taken?: JustTaken },
  move: FileMove,
): Promise<boolean> {
  if (!(await exists(move.source))) return false;
  // Equal bytes are equal rows, which then nobody has to read once more.
  if (taken?.path === move.source && (await bytesHashOf(taken.path, config.intake)) === taken.bytesHash)
    return true;
  const id = basename(move.target).split('--')[0] ?? '';
  const expected = await findFile(ledger.db, id);
  if (expected) return (await expectationHash(move.source, config.intake)) === expected.content_hash;
  const batch = (await getBatch(ledger.db, 'test', id)) ?? (await getBatch(ledger.db, 'live', id));
  if (!batch) return false;
  for await (const item of checkedRows(move.source, rowRules(config), config.intake)) {
    if (item.kind === 'end') return item.contentHash === batch.content_hash;
  }
  return false;
}
