import { type Dirent, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findRun, frozenRuns } from '../../books/batch-results.sql.ts';
import { closedPeriods } from '../../books/periods.sql.ts';
import { runFolder, runOfReport } from '../../core/domain/run-folder.ts';
import { isUsable } from '../../core/domain/verdict.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Ledger } from '../../core/storage/ledger.ts';

const dayMs = 24 * 60 * 60_000;

/**
 * Removes the files of runs that are older than `reports.keep_days`, where this ledger writes the same files again. It
 * keeps the newest run, the newest that could compare, and the runs that closed months name. Files of people stay.
 */
export function createOldReports(deps: {
  ledger: Ledger;
  config: Config;
  reports: string;
  /** The paths that Counterfoil writes for a run. */
  pathsOf(run: string): string[];
}) {
  const { ledger, config, reports, pathsOf } = deps;
  const { keepDays } = config.reports;

  async function neededRuns(): Promise<Set<string>> {
    const needed = new Set<string>();
    for (const { run_id } of await closedPeriods(ledger.db)) if (run_id !== null) needed.add(run_id);
    let isNewest = true;
    for await (const page of frozenRuns(ledger.db))
      for (const { id, list_standing } of page) {
        if (isNewest || isUsable(list_standing)) needed.add(id);
        isNewest = false;
        if (isUsable(list_standing)) return needed;
      }
    return needed;
  }

  /** Whether this ledger has all that the files of the run are made of, and has written them once. */
  async function canWriteAgain(run: string): Promise<boolean> {
    const found = await findRun(ledger.db, run);
    return (
      found !== undefined && found.frozen !== null && found.archive_id === null && found.reports_due === 0n
    );
  }

  /** The files in the folder of a run that `report` writes. */
  function writtenFiles(run: string): string[] {
    const names = new Set(pathsOf(run).map((path) => basename(path)));
    const folder = join(reports, runFolder(run));
    return entriesOf(folder)
      .filter((entry) => entry.isFile() && (names.has(entry.name) || entry.name.startsWith('against-')))
      .map(({ name }) => join(folder, name));
  }

  /** Returns the runs whose files it removed. `nowMs`: the present time. Throws where a file cannot be removed. */
  return async function removeOldRuns(nowMs: number): Promise<string[]> {
    if (keepDays === 0) return [];
    const until = nowMs - keepDays * dayMs;
    const needed = await neededRuns();
    const removed: string[] = [];
    for (const entry of entriesOf(reports)) {
      const run = entry.isDirectory() ? runOfReport(entry.name) : undefined;
      if (run === undefined || needed.has(run)) continue;
      const files = writtenFiles(run);
      // A file that was written again later, because a person asked for it, is as new as its writing.
      const isOld = startOf(run) < until && files.every((file) => statSync(file).mtimeMs < until);
      if (!isOld || files.length === 0 || !(await canWriteAgain(run))) continue;
      for (const file of files) rmSync(file, { force: true });
      removeEmpty(join(reports, entry.name));
      removed.push(run);
    }
    return removed;
  };
}

/** When a run began, by its name. */
function startOf(run: string): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(run) ?? [];
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** A folder in which a person put a file stays. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}
