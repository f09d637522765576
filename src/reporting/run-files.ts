import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../config.ts';
import type { Ledger } from '../ledger/open.ts';
import { findRun, frozenRuns, runRows } from '../ledger/reports.ts';
import { whole, writeAtomically } from './atomic-file.ts';
import { writeCsv } from './csv-file.ts';
import { accountMask } from './presentation.ts';

/** The sheets of a run, each a CSV file of that name. */
export const runSheets = ['statement', 'payouts', 'discrepancies', 'ageing'] as const;

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
    return [...runSheets.map((sheet) => join(folder, `${sheet}.csv`)), join(folder, 'summary.json')];
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
      const path = join(folder, `${sheet}.csv`);
      await writeCsv(path, pages(run.id, sheet), style);
      files.push(path);
    }
    if (run.summary !== null) {
      const path = join(folder, 'summary.json');
      await writeAtomically(path, whole(`${JSON.stringify(JSON.parse(run.summary), null, 2)}\n`));
      files.push(path);
    }
    return files;
  }

  /** The newest run of the mode that has reports; null when there is none. */
  async function lastRun(): Promise<string | null> {
    for await (const page of frozenRuns(ledger.db, config.mode)) return page[0]?.id ?? null;
    return null;
  }

  return { writeRun, lastRun, pathsOf };
}
