import { join } from 'node:path';
import {
  type ClosedMonth,
  closedMonth,
  frozenParts,
  periodFolder,
  periodReadable,
} from '../../books/closed-month.ts';
import {
  closedPeriods,
  findPeriod,
  hasPeriodRows,
  lastPeriod,
  type PeriodSheet,
  periodRows,
  sheetsOfPeriod,
} from '../../books/periods.sql.ts';
import { zoned } from '../../books/presentation.ts';
import { storedCells } from '../../books/sheet.ts';
import type { Config } from '../../core/settings/settings.ts';
import { writeAtomically, writeWhole } from '../../core/storage/atomic-file.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { periodPage } from '../web/report/period-page.ts';
import { writeCsv } from './csv-writer.ts';
import { periodSummary } from './workbook/period-summary.ts';
import { layoutOf, sheetRows, summarySheet, whereRowsAre } from './workbook/report-workbook.ts';
import { titleOf } from './workbook/run-summary.ts';
import { beginWorkbook } from './workbook/xlsx-file.ts';

/** Writes the files of closed months from their frozen rows alone: the same bytes each time under the same configuration. */
export function createPeriodFiles(deps: { ledger: Ledger; config: Config; reports: string }) {
  const { ledger, config, reports } = deps;

  async function* pages(month: string, sheet: string): AsyncGenerator<string[][]> {
    for await (const page of periodRows(ledger.db, { month }, sheet))
      yield page.map(({ cells }) => storedCells(cells));
  }

  /** Returns the paths, or null when the month is not closed. */
  async function write(month: string): Promise<string[] | null> {
    const period = await findPeriod(ledger.db, month);
    if (!period) return null;
    const folder = join(reports, periodFolder(month));
    const closed = await closedMonth(ledger.db, period);
    const parts = await frozenParts(ledger.db, closed);
    const sheets = await sheetsOfPeriod(ledger.db, period);
    const files = [...periodReadable, ...sheets.map((sheet) => `${sheet}.csv`)];
    const [page, workbook] = periodReadable.map((name) => join(folder, name));
    const facts = { mode: ledger.mode, zone: config.reports.timezone, files: files.slice(1) };
    await writeAtomically(page ?? '', periodPage(closed, parts, facts));
    await writeWorkbook(closed, sheets, workbook ?? '');
    for (const sheet of sheets)
      await writeCsv(join(folder, `${sheet}.csv`), pages(month, sheet), config.reports);
    return files.map((name) => join(folder, name));
  }

  async function writeWorkbook(
    closed: ClosedMonth,
    sheets: readonly PeriodSheet[],
    path: string,
  ): Promise<void> {
    const { month } = closed.period;
    const shown = (instant: string): string => zoned(instant, config.reports.timezone);
    await writeWhole(path, async (to) => {
      const workbook = await beginWorkbook(to, [summarySheet, ...sheets.map(titleOf)]);
      await workbook.notes(summarySheet, periodSummary(closed, { mode: ledger.mode, shown, sheets }));
      for (const sheet of sheets) {
        const table = await workbook.table(titleOf(sheet), layoutOf(sheet));
        if (await hasPeriodRows(ledger.db, { month }, sheet, sheetRows)) await table.add(whereRowsAre(sheet));
        else for await (const page of pages(month, sheet)) await table.add(page);
        await table.end();
      }
      await workbook.end();
    });
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
