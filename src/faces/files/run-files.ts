import { join } from 'node:path';
import { findRun, frozenRuns } from '../../books/batch-results.sql.ts';
import { figureSheets } from '../../books/figures.ts';
import { accountMask, readableTime } from '../../books/presentation.ts';
import { reportsWritten, runsDue } from '../../books/reports-due.sql.ts';
import { hasRunRows, isFrozen, runRows, runSheets } from '../../books/run-sheets.sql.ts';
import { verdictsOf } from '../../books/run-verdicts.sql.ts';
import { storedCells } from '../../books/sheet.ts';
import { runFolder } from '../../core/domain/run-folder.ts';
import type { Config } from '../../core/settings/settings.ts';
import { openArchive } from '../../core/storage/archive-file.ts';
import { writeAtomically, writeWhole } from '../../core/storage/atomic-file.ts';
import type { Db, Ledger } from '../../core/storage/ledger.ts';
import type { Run } from '../../core/storage/tables/tables.ts';
import { reportPage } from '../web/report/page.ts';
import { csvText } from './csv-writer.ts';
import {
  layoutOf,
  sheetRows,
  summarySheet,
  whereRowsAre,
  workbookSheets,
} from './workbook/report-workbook.ts';
import { runSummary, titleOf } from './workbook/run-summary.ts';
import { beginWorkbook, type WorkbookWriter } from './workbook/xlsx-file.ts';

/** The files of a run for people. They open the first. */
const readable = ['report.html', 'report.xlsx'];
/** What the page shows; none of these grows with the number of payouts. */
const pageSheets = ['halt', 'action', 'open', 'statement', 'ageing', ...figureSheets];
const summedUp = ['open', 'statement', 'states'];

/** A run, and the ledger or archive that has the rows of its reports. */
type Source = { db: Db; run: Run };

/** Writes the files of a frozen run from its stored rows alone: the same bytes each time under the same configuration. */
export function createRunFiles(deps: { ledger: Ledger; config: Config; reports: string }) {
  const { ledger, config, reports } = deps;
  const style = { bom: config.reports.bom, delimiter: config.reports.delimiter };

  async function* pages({ db, run }: Source, sheet: string): AsyncGenerator<string[][]> {
    let mask: ((cells: string[]) => string[]) | null = null;
    for await (const page of runRows(db, run.id, sheet)) {
      const rows = page.map(storedCells);
      if (mask) yield rows.map(mask);
      else {
        const [header = [], ...rest] = rows;
        mask = accountMask(header, config.reports.maskAccounts);
        yield [header, ...rest.map(mask)];
      }
    }
  }

  function pathsOf(run: string): string[] {
    const folder = join(reports, runFolder(run));
    return [...readable, ...runSheets.map((sheet) => `${sheet}.csv`), 'summary.json'].map((name) =>
      join(folder, name),
    );
  }

  /** Returns the paths. Throws when the run is unknown or was never frozen. summary.json waits for the run's summary. */
  async function writeRun(runId: string): Promise<string[]> {
    const run = await findRun(ledger.db, runId);
    if (!run) throw new Error(`no such run: ${runId}`);
    if (!(await isFrozen(ledger.db, run.id)))
      throw new Error(`run ${runId} did not finish: it has no reports`);
    if (run.archive_id === null) return writeFrom({ db: ledger.db, run });
    const archive = await openArchive(ledger, run.archive_id);
    try {
      return await writeFrom({ db: archive.db, run });
    } finally {
      await archive.close();
    }
  }

  async function writeFrom(source: Source): Promise<string[]> {
    const { run } = source;
    const folder = join(reports, runFolder(run.id));
    const [page = '', workbook = ''] = readable.map((name) => join(folder, name));
    // A separate thread draws the pictures while the tables are written here.
    // When this throws, nothing of the run is still being written.
    const [drawn, written] = await Promise.allSettled([
      writePage(source, page),
      writeTables(source, folder, workbook),
    ]);
    if (drawn.status === 'rejected') throw drawn.reason;
    if (written.status === 'rejected') throw written.reason;
    const files = [page, workbook, ...written.value];
    if (run.summary !== null) {
      const path = join(folder, 'summary.json');
      const printed = { schema: 1, ...JSON.parse(run.summary) };
      await writeAtomically(path, `${JSON.stringify(printed, null, 2)}\n`);
      files.push(path);
    }
    return files;
  }

  /** Frozen sheets as a whole, by name; an older run may lack some. */
  async function smallSheets(source: Source, names: readonly string[]): Promise<Record<string, string[][]>> {
    const sheets: Record<string, string[][]> = {};
    for (const sheet of names) {
      const rows: string[][] = [];
      for await (const some of pages(source, sheet)) rows.push(...some);
      if (rows.length > 0) sheets[sheet] = rows;
    }
    return sheets;
  }

  async function writeSummary(source: Source, names: string[], workbook: WorkbookWriter): Promise<void> {
    const { run } = source;
    const zone = config.reports.timezone;
    const notes = runSummary({
      title: `Reconciliation, ${readableTime(run.started_at, zone)}`,
      run: run.id,
      mode: ledger.mode,
      zone,
      list: run.list_standing,
      verdicts: (await verdictsOf(ledger.db, [run.id])).get(run.id) ?? [],
      sheets: await smallSheets(source, summedUp),
      names,
    });
    await workbook.notes(summarySheet, notes);
  }

  async function writePage(source: Source, path: string): Promise<void> {
    const { run } = source;
    const sheets = await smallSheets(source, pageSheets);
    const verdicts = (await verdictsOf(ledger.db, [run.id])).get(run.id) ?? [];
    const files = ['report.xlsx', ...runSheets.map((sheet) => `${sheet}.csv`)];
    const zone = config.reports.timezone;
    const page = { run: { ...run, mode: ledger.mode }, verdicts, sheets, zone, files, banks: config.banks };
    await writeAtomically(path, await reportPage(page));
  }

  /** Writes report.xlsx and the CSV files from one reading of the frozen rows. Returns the CSV files. */
  async function writeTables(source: Source, folder: string, path: string): Promise<string[]> {
    const names: string[] = [];
    // Runs of an older version froze fewer sheets.
    for (const name of workbookSheets(runSheets))
      if (await hasRunRows(source.db, source.run.id, name)) names.push(name);
    await writeWhole(path, async (write) => {
      const workbook = await beginWorkbook(write, [summarySheet, ...names.map(titleOf)]);
      await writeSummary(source, names, workbook);
      for (const name of names) await writeSheet(source, name, { folder, workbook });
      await workbook.end();
    });
    return runSheets.filter((name) => names.includes(name)).map((name) => join(folder, `${name}.csv`));
  }

  async function writeSheet(source: Source, name: string, to: { folder: string; workbook: WorkbookWriter }) {
    const sheet = await to.workbook.table(titleOf(name), layoutOf(name));
    const fits = !(await hasRunRows(source.db, source.run.id, name, sheetRows));
    const addRows = async (toCsv: ((rows: string[][]) => Promise<void>) | null): Promise<void> => {
      for await (const page of pages(source, name)) {
        await toCsv?.(page);
        if (fits) await sheet.add(page);
      }
    };
    if (!fits) await sheet.add(whereRowsAre(name));
    if (isRunSheet(name))
      await writeWhole(join(to.folder, `${name}.csv`), (write) => {
        const text = csvText(style);
        return addRows((rows) => write(text(rows)));
      });
    else await addRows(null);
    await sheet.end();
  }

  /** Writes the promised files of every run that lacks them (P34). Returns the paths. */
  async function writeDue(): Promise<string[]> {
    const files: string[] = [];
    for (const run of await runsDue(ledger.db)) {
      files.push(...(await writeRun(run)));
      await ledger.write((trx) => reportsWritten(trx, run));
    }
    return files;
  }

  /** The newest run that has reports; null when there is none. */
  async function lastRun(): Promise<string | null> {
    for await (const page of frozenRuns(ledger.db)) return page[0]?.id ?? null;
    return null;
  }

  return { writeRun, writeDue, lastRun, pathsOf };
}

function isRunSheet(name: string): boolean {
  return runSheets.some((one) => one === name);
}
