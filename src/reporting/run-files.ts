import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../config.ts';
import type { Ledger } from '../ledger/open.ts';
import { findRun, frozenRuns, runRows } from '../ledger/reports.ts';
import type { Run } from '../ledger/tables.ts';
import { whole, writeAtomically } from './atomic-file.ts';
import { writeCsv } from './csv-file.ts';
import { figureSheets } from './figures.ts';
import { reportPage } from './page.ts';
import { accountMask } from './presentation.ts';
import { writeReportWorkbook } from './report-workbook.ts';

/** The sheets of a run, each a CSV file of that name. */
export const runSheets = [
  'statement',
  'statement-rows',
  'payouts',
  'discrepancies',
  'ageing',
  'collections',
] as const;

/** The files of a run for people, who open the first. */
const readable = ['report.html', 'report.xlsx'];
/** What the page shows; none of these grows with the number of payouts. */
const pageSheets = ['halt', 'action', 'open', 'statement', 'ageing', ...figureSheets];

const texts = z.array(z.string());

/** Writes the files of a frozen run from its stored rows alone: the same bytes each time under the same configuration. */
export function createRunFiles(deps: { ledger: Ledger; config: Config; reports: string }) {
  const { ledger, config, reports } = deps;
  const style = { bom: config.reports.bom, delimiter: config.reports.delimiter };

  async function* pages(run: string, sheet: string): AsyncGenerator<string[][]> {
    let mask: ((cells: string[]) => string[]) | null = null;
    for await (const page of runRows(ledger.db, run, sheet)) {
      const rows = page.map((cells) => texts.parse(JSON.parse(cells)));
      mask ??= accountMask(rows[0] ?? [], config.reports.maskAccounts);
      yield rows.map(mask);
    }
  }

  /** Where the run's files are, or will be. */
  function pathsOf(run: string): string[] {
    const folder = join(reports, `reconciliation-${run}`);
    return [...readable, ...runSheets.map((sheet) => `${sheet}.csv`), 'summary.json'].map((name) =>
      join(folder, name),
    );
  }

  /** Gives the paths; throws when the run is unknown or was never frozen. summary.json waits for the run's summary. */
  async function writeRun(runId: string): Promise<string[]> {
    const run = await findRun(ledger.db, runId);
    if (!run) throw new Error(`no such run: ${runId}`);
    const { value: first } = await runRows(ledger.db, run.id, 'statement').next();
    if (first === undefined) throw new Error(`run ${runId} did not finish: it has no reports`);
    const folder = join(reports, `reconciliation-${run.id}`);
    const files: string[] = [];
    for (const sheet of runSheets) {
      // Runs of an older version froze fewer sheets.
      if ((await runRows(ledger.db, run.id, sheet).next()).value === undefined) continue;
      const path = join(folder, `${sheet}.csv`);
      await writeCsv(path, pages(run.id, sheet), style);
      files.push(path);
    }
    if (run.summary !== null) {
      const path = join(folder, 'summary.json');
      await writeAtomically(path, whole(`${JSON.stringify(JSON.parse(run.summary), null, 2)}\n`));
      files.push(path);
    }
    return [...(await writeReadable(run, folder)), ...files];
  }

  /** report.html and report.xlsx, from the same frozen rows. */
  async function writeReadable(run: Run, folder: string): Promise<string[]> {
    const [page = '', workbook = ''] = readable.map((name) => join(folder, name));
    const sheets: Record<string, string[][]> = {};
    for (const sheet of pageSheets) {
      const rows: string[][] = [];
      for await (const some of pages(run.id, sheet)) rows.push(...some);
      if (rows.length > 0) sheets[sheet] = rows;
    }
    const files = ['report.xlsx', ...runSheets.map((sheet) => `${sheet}.csv`)];
    await writeAtomically(
      page,
      whole(await reportPage({ run, sheets, zone: config.reports.timezone, files })),
    );
    await writeReportWorkbook(workbook, [...runSheets], (sheet) => pages(run.id, sheet));
    return [page, workbook];
  }

  /** The newest run of the mode that has reports; null when there is none. */
  async function lastRun(): Promise<string | null> {
    for await (const page of frozenRuns(ledger.db, config.mode)) return page[0]?.id ?? null;
    return null;
  }

  return { writeRun, lastRun, pathsOf };
}
