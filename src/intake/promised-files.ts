import { lstat, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ActionNeeded, type Advice } from '../core/domain/advice.ts';
import { endingOf } from '../core/domain/file-formats.ts';
import { forbiddenPlace } from '../core/domain/forbidden.ts';
import { closeFileTask, type FileTask, openFileTasks } from '../core/ledger/file-tasks.ts';
import { followSheet } from '../core/ledger/rejected-files.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import type { FileTaskOutcome } from '../core/storage/tables/file-tables.ts';
import { syncFolderLater } from './csv-file.ts';
import { harmlessName, sheetEndings } from './file-name.ts';
import { collectionsFolder } from './inbox.ts';
import { copyWhole, exists, freeStem, isPlainFile, moveFile, renamed, tidyMarkers } from './moves.ts';
import { bytesHashOf } from './read.ts';

type Deps = { ledger: Ledger; config: Config; clock: Clock; inbox: string };
type Finished = Pick<FileTask, 'target'> & { outcome: FileTaskOutcome };

/** The files that give back rows left out of a batch or of expected collections. */
export type GivenBackRows = { owner: string; errorsFile: string | null; invalidFile: string | null };

/**
 * Moves every file that the ledger promises and that is not in its place yet (P23, P34). May be repeated
 * after a crash at any point. Only under the intake lock. Returns what it moved.
 */
export async function finishPromised(deps: Deps): Promise<FileTask[]> {
  const { ledger, config, clock } = deps;
  const done: FileTask[] = [];
  for (const task of await openFileTasks(ledger.db)) {
    const work = task.kind === 'archive' ? archive(deps, task) : place(task, sheetEndings[task.kind]);
    const finished = await work.catch((error: unknown) => {
      const forbidden = forbiddenPlace(error);
      if (!forbidden) throw error;
      const advice: Advice = { kind: 'free_folders', mode: config.mode };
      throw new ActionNeeded(unplacedText(task, forbidden.why), advice, { cause: error });
    });
    await ledger.write(async (trx) => {
      await closeFileTask(trx, task.id, { at: clock.iso(), ...finished });
      if (task.kind === 'archive' || finished.target === task.target) return;
      const { target } = finished;
      await followSheet(
        trx,
        task.owner,
        task.kind === 'invalid' ? { place: target } : { errors_file: target },
      );
    });
    done.push({ ...task, ...finished });
  }
  return done;
}

/** Returns where the rows left out of each batch or file of collections are now. */
export function givenBack(tasks: readonly FileTask[]): GivenBackRows[] {
  const sheets = tasks.filter(({ kind, outcome }) => kind !== 'archive' && outcome === 'done');
  return [...Map.groupBy(sheets, ({ owner }) => owner)].map(([owner, own]) => {
    const at = (kind: FileTask['kind']): string | null =>
      own.find((task) => task.kind === kind)?.target ?? null;
    return { owner, errorsFile: at('errors'), invalidFile: at('invalid') };
  });
}

/**
 * Moves a file from the inbox, or copies a named one. The source is touched only while it is still the bytes
 * that intake read.
 */
async function archive({ config, inbox }: Deps, task: FileTask): Promise<Finished> {
  const { source, target } = task;
  const fromInbox = [inbox, join(inbox, collectionsFolder)].includes(dirname(source));
  const isRead = async (path: string): Promise<boolean> =>
    task.sha256 !== '' && (await bytesHashOf(path, config.intake)) === task.sha256;
  // A file at the source beside a finished archive arrived later; the next intake takes or refuses it.
  if (!(await exists(target))) {
    const before = await fileId(source);
    if (!(await isRead(source))) return { outcome: before === '' ? 'missing' : 'differs', target };
    if (!fromInbox || !(await isPlainFile(source))) {
      // Archiving a named link as a link would point to a file that anybody may change or remove.
      await copyWhole(source, target);
    } else if (!(await renamed(source, target))) {
      await copyWhole(source, target);
      if (await isRead(target)) await rm(source);
    } else if ((await fileId(target)) !== before) {
      await putBack(task);
      return { outcome: 'missing', target };
    }
  }
  if (fromInbox && !(await exists(source))) await tidyMarkers(source, target);
  return { outcome: 'done', target };
}

/** Returns the identity of the file at a path; '' where there is none. */
async function fileId(path: string): Promise<string> {
  const stats = await lstat(path, { bigint: true }).catch(() => null);
  return stats ? `${stats.dev} ${stats.ino}` : '';
}

/**
 * Returns a file to the inbox that took the name of the one that was read. Nobody read it, and in the archive
 * it would be a batch that nobody sends.
 */
async function putBack({ source, target }: FileTask): Promise<void> {
  const folder = dirname(source);
  const ending = endingOf(source);
  const stem = await freeStem(folder, basename(source), [ending]);
  await moveFile(target, join(folder, stem + ending));
}

/** Moves a complete sheet to its place. It overwrites no file that appeared there in the meantime. */
async function place({ source, target }: FileTask, ending: string): Promise<Finished> {
  if (!(await exists(source))) return { outcome: (await exists(target)) ? 'done' : 'missing', target };
  const folder = dirname(target);
  const stem = basename(target).slice(0, -ending.length);
  const free = join(folder, (await freeStem(folder, stem, [ending])) + ending);
  await moveFile(source, free);
  await syncFolderLater(folder);
  return { outcome: 'done', target: free };
}

/**
 * Says more than that a folder cannot be written: otherwise a person may drop the file again, or pay another
 * way.
 */
function unplacedText({ kind, owner, source, target }: FileTask, why: string): string {
  const what =
    kind === 'archive'
      ? `${harmlessName(basename(source))} is recorded as ${owner}, but`
      : `the rows left out of ${owner}`;
  return `${what} cannot be brought from ${dirname(source)} to ${dirname(target)} (${why}). Nothing is lost, and this run sent nothing`;
}
