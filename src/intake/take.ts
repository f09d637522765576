import { basename, join } from 'node:path';
import type { SayAdvice } from '../core/domain/advice.ts';
import { endingOf } from '../core/domain/file-formats.ts';
import { forbiddenPlace } from '../core/domain/forbidden.ts';
import type { LeftOut } from '../core/domain/left-out.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import type { FileTask, PromisedFile } from '../core/ledger/file-tasks.ts';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { type Checked, checkFile, fileProblems, refuses, takenBefore, warningsOf } from './check.ts';
import { confirmArchived } from './confirm.ts';
import { dropperOf, type HandedIn } from './dropper.ts';
import { sheetEndings } from './file-name.ts';
import { sharedFile } from './foresight.ts';
import { delimiterOf } from './header.ts';
import { loadBatch } from './load.ts';
import { freeStem, isPlainFile, moveFile, tidyMarkers } from './moves.ts';
import { changedSinceCheck, type Prepared, recordPrepared } from './prepared.ts';
import { problemSheets, type Sheets } from './problem-sheets.ts';
import { finishPromised, givenBack } from './promised-files.ts';
import { droppedName, noteRefusal, noteUnread } from './rejections.ts';
import { Interrupted, type RetryRows } from './retries.ts';
import type { RowWarning } from './row-warnings.ts';
import { capped, formatTotals, type RulesOf, type Scan, scanFile } from './scan.ts';
import { type KeptRows, keptRows } from './second-pass.ts';
import { openProblem, unendedWarning } from './unfinished.ts';
import { unfitName, whyUnreadable } from './unreadable.ts';

/** Folders, absolute. */
export type Paths = { inbox: string; archive: string; rejected: string; reports: string };
export type TakeOptions = HandedIn & {
  rows?: number;
  totals?: Record<string, string>;
  /** The day of rows that name none, `YYYY-MM-DD` (P38). */
  payOn?: string;
  dryRun?: boolean;
  signal?: AbortSignal;
  prepared?: Prepared;
};

/** Rows that `skip_row` left out: their problems, and the files that hold the problems and the rows to mend. */
export type Skipped = LeftOut & { problems: Problem[] };

export type TakenFile =
  | {
      kind: 'taken';
      batch: string;
      file: string;
      /** The delimiter's name: comma, semicolon or tab; null where it has none. */
      delimiter: string | null;
      rows: number;
      totals: Record<string, string>;
      warnings: string[];
      /** The same: those of single rows, and those of the file as a whole. */
      rowWarnings: RowWarning[];
      fileWarnings: string[];
      holdReasons: HoldReason[];
      skipped: Skipped | null;
    }
  | {
      kind: 'refused';
      file: string;
      problems: Problem[];
      problemCount: number;
      errorsFile: string | null;
      /** Why the problems are in no file, or the file is still in the inbox, with the way out. */
      unkept?: string;
      /** The batch that the same content became before; then the rows have no problem. */
      batch?: string;
    }
  | { kind: 'dry_run'; checked: Checked };

type Deps = {
  ledger: Ledger;
  config: Config;
  clock: Clock;
  paths: Paths;
  retries: RetryRows;
  say: SayAdvice;
  serviceNow: RulesOf['serviceNow'];
};

/** Takes one file in or refuses it whole. Throws Interrupted. Only under the intake lock. */
export async function takeFile(deps: Deps, path: string, options: TakeOptions): Promise<TakenFile> {
  const figures = { rows: options.rows, totals: options.totals };
  if (options.dryRun) return { kind: 'dry_run', checked: await checkFile(deps, path, options) };
  const missing = await whyUnreadable(path);
  if (missing) {
    if (options.origin === 'inbox') await noteUnread(deps, path);
    return { kind: 'refused', file: path, problems: [missing], problemCount: 1, errorsFile: null };
  }
  const sheets = problemSheets(deps.paths.rejected, basename(path), deps.config.reports.bom);
  const unfit = unfitName(path) ?? (options.origin === 'inbox' ? null : await openProblem(path));
  if (unfit) return refuse(deps, path, options, { problems: capped(0) }, [unfit], sheets);
  const kept = keptRows(path);
  try {
    const scan = await scanFile(
      path,
      { ...deps, payOn: options.payOn, signal: options.signal },
      {
        problem: sheets.problem,
        badRow: async ({ cells }, header) => {
          if (deps.config.intake.onInvalidRow === 'skip_row') await sheets.badRow(cells, header);
        },
        good: async (rows) => kept.add(rows),
      },
    );
    const before = await takenBefore(scan, deps);
    if (before) return await refuseAgain(deps, path, options, scan, before, sheets);
    const changed = changedSinceCheck(options.prepared, scan);
    const shared = sharedFile(scan, options, deps.config);
    const extra = [...changed, ...shared, ...(await fileProblems(path, scan, deps, figures))];
    if (extra.length > 0 || refuses(scan, deps.config))
      return await refuse(deps, path, options, scan, extra, sheets);
    // Rows that cannot be given back must not be left out: then the whole file is refused.
    const left = await leftOutSheets(deps, path, scan, sheets);
    if (left.kind === 'problem') return await refuse(deps, path, options, scan, [left.problem], sheets);
    return await take(deps, path, options, scan, { sheets, left: left.files, kept });
  } finally {
    await sheets.discard();
  }
}

async function take(
  deps: Deps,
  path: string,
  options: TakeOptions,
  scan: Scan,
  { sheets, left, kept }: { sheets: Sheets; left: PromisedFile[]; kept: KeptRows },
): Promise<TakenFile> {
  const { paths } = deps;
  const fileName = basename(path);
  const dropper = await dropperOf(scan.file, options);
  const promised = (batch: string): PromisedFile[] => {
    // A commit that throws may still have happened (P12), so from here on only the ledger may remove the
    // sheets.
    sheets.keep();
    return [archived(paths, path, batch, scan), ...left];
  };
  const loaded = dropper
    ? await loadBatch(
        deps,
        {
          path,
          kept,
          fileName,
          name: droppedName(paths, path),
          dropper,
          promised,
          prepare: (trx, about) => recordPrepared(trx, { ...paths, fileName, ...about }, options.prepared),
          sheets: left.map(({ source }) => source),
        },
        scan,
      )
    : { kind: 'changed' as const, problems: [], takenOver: false };
  if (loaded.kind === 'changed') {
    const other = await takenBefore(scan, deps);
    // Another process has the lock by now, and may have this file: it moves what it took.
    if ((other || loaded.takenOver) && options.origin === 'inbox') throw new Interrupted();
    if (other) return refuseAgain(deps, path, options, scan, other, sheets);
    const changed = wholeFile(
      'the file or the ledger changed while the file was read',
      'drop it again when it is complete',
    );
    const problems = loaded.problems.length > 0 ? loaded.problems : [changed];
    return refuse(deps, path, options, scan, problems, sheets);
  }
  // Before the file moves, and its marker and control figures with it.
  const unended = await unendedWarning(path, scan);
  const finished = await finishPromised({ ...deps, inbox: paths.inbox });
  const skipped = skippedOf(loaded.batch, scan, finished);
  const changed = await confirmArchived(deps, loaded.batch);
  const totals = formatTotals(scan.good.totals);
  const { batch } = loaded;
  const holdReasons = [...loaded.holdReasons, ...(changed === null ? [] : [changed])];
  return {
    kind: 'taken',
    batch,
    file: path,
    delimiter: delimiterOf(scan.header),
    rows: scan.good.count,
    totals,
    ...warningsOf(scan, [...unended, ...loaded.warnings]),
    holdReasons,
    skipped,
  };
}

type Read = Pick<Scan, 'badRows' | 'problems' | 'bytes' | 'bytesHash'>;

/** Returns the promise to move a taken file into the archive. */
export function archived(paths: Paths, path: string, owner: string, read: Read): PromisedFile {
  const target = join(paths.archive, `${owner}--${basename(path)}`);
  return { kind: 'archive', source: path, target, bytes: read.bytes, sha256: read.bytesHash };
}

/**
 * Completes the sheets of rows that `skip_row` leaves out, ready to be promised; none where no row is left
 * out.
 */
export async function leftOutSheets(
  { paths }: Pick<Deps, 'paths'>,
  path: string,
  { badRows }: Read,
  sheets: Sheets,
): ReturnType<Sheets['complete']> {
  if (badRows === 0) return { kind: 'complete', files: [] };
  return sheets.complete(await freeStem(paths.rejected, basename(path), Object.values(sheetEndings)));
}

/** Returns the rows left out of a taken file, and where they were given back; null for none. */
export function skippedOf(owner: string, scan: Read, finished: readonly FileTask[]): Skipped | null {
  if (scan.badRows === 0) return null;
  const back = givenBack(finished).find((one) => one.owner === owner);
  const { list: problems, count: problemCount } = scan.problems;
  const { errorsFile = null, invalidFile = null } = back ?? {};
  return { rows: scan.badRows, problems, problemCount, errorsFile, invalidFile };
}

/**
 * Writes NAME.errors.csv, then moves a file from the inbox beside it. Overwrites nothing. Who posted a file hears its
 * problems in the answer: nothing of it is kept.
 */
export async function refuse(
  deps: Pick<Deps, 'ledger' | 'clock' | 'paths' | 'config'>,
  path: string,
  options: Pick<TakeOptions, 'origin'>,
  scan: Pick<Scan, 'problems'> & Partial<Pick<Scan, 'contentHash'>>,
  extra: Problem[],
  sheets: Sheets,
): Promise<Extract<TakenFile, { kind: 'refused' }>> {
  const problems = [...extra, ...scan.problems.list];
  const problemCount = extra.length + scan.problems.count;
  if (options.origin === 'posted')
    return { kind: 'refused', file: path, problems, problemCount, errorsFile: null };
  for (const problem of extra) await sheets.problem(problem);
  const { rejected } = deps.paths;
  const ending = endingOf(path);
  const stem = await freeStem(rejected, basename(path), [ending, sheetEndings.errors]);
  const place = join(rejected, stem + ending);
  const errorsFile = await sheets.finish(stem);
  if (options.origin === 'inbox') {
    const { contentHash = '' } = scan;
    await noteRefusal(deps, path, { place, errorsFile, problems: problemCount, contentHash });
  }
  let forbidden = sheets.forbidden();
  if (forbidden === null && options.origin === 'inbox' && (await isPlainFile(path)))
    forbidden = await moveRefused(path, place);
  return {
    kind: 'refused',
    file: path,
    problems,
    problemCount,
    errorsFile,
    ...(forbidden !== null && { unkept: unkeptText(forbidden, errorsFile, options) }),
  };
}

/** Moves a refused file with its markers. Returns the place that could not be written, else null. */
async function moveRefused(path: string, target: string): Promise<ReturnType<typeof forbiddenPlace>> {
  try {
    await moveFile(path, target);
    await tidyMarkers(path, target);
    return null;
  } catch (error) {
    const forbidden = forbiddenPlace(error);
    if (!forbidden) throw error;
    return forbidden;
  }
}

function unkeptText(
  { place, why }: { place: string; why: string },
  errorsFile: string | null,
  { origin }: Pick<TakeOptions, 'origin'>,
): string {
  const left = [
    ...(errorsFile === null ? ['its problems are in no file'] : []),
    ...(origin === 'inbox' ? ['it is still in the inbox'] : []),
  ].join(' and ');
  return `${left}, since ${place} cannot be used (${why}): make the folder writable for this account, then run the command again`;
}

/** Refuses a file whose content was taken before, with that as its one problem. Its rows would all repeat references. */
async function refuseAgain(
  deps: Deps,
  path: string,
  options: TakeOptions,
  scan: Scan,
  { batch, problem }: { batch: string; problem: Problem },
  met: Sheets,
): Promise<TakenFile> {
  await met.discard();
  const sheets = problemSheets(deps.paths.rejected, basename(path), deps.config.reports.bom);
  const refused = await refuse(deps, path, options, { ...scan, problems: capped(0) }, [problem], sheets);
  return { ...refused, batch };
}
