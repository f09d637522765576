import { join } from 'node:path';
import type { Config } from '../settings/settings.ts';
import type { Ledger } from '../storage/ledger.ts';
import { writeCsv } from './csv-writer.ts';
import { periodFolder } from './period-folder.ts';
import { closedPeriods, findPeriod, lastPeriod, periodRows, periodSheets } from './periods.sql.ts';
import { storedCells } from './stored-cells.ts';

/** Writes the files of closed months from their frozen rows alone: the same bytes each time under the same configuration. */
export function createPeriodFiles(deps: { ledger: Ledger; config: Config; reports: string }) {
  const { ledger, config, reports } = deps;

  async function* pages(month: string, sheet: string): AsyncGenerator<string[][]> {
    for await (const page of periodRows(ledger.db, { month }, sheet))
      yield page.map(({ cells }) => storedCells(cells));
  }

  /** Returns the paths, or null when the month is not closed. */
  async function write(month: string): Promise<string[] | null> {
    if (!(await findPeriod(ledger.db, month))) return null;
    const files: string[] = [];
    for (const sheet of periodSheets) {
      const path = join(reports, periodFolder(month), `${sheet}.csv`);
      await writeCsv(path, pages(month, sheet), config.reports);
      files.push(path);
    }
    return files;
  }

  /** The files of the last closed month; none before the first. */
  async function writeLast(): Promise<string[]> {
    const last = await lastPeriod(ledger.db);
    return (last && (await write(last.month))) ?? [];
  }

  /** The closed months, the newest first. */
  async function months(): Promise<string[]> {
    return (await closedPeriods(ledger.db)).map(({ month }) => month).toReversed();
  }

  return { write, writeLast, months };
}
