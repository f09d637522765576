import { forbiddenPlace } from '../domain/forbidden.ts';
import type { Payer } from '../domain/origin.ts';
import type { Config } from '../settings/settings.ts';
import type { Ledger } from '../storage/ledger.ts';
import { createBatchResults } from './batch-results.ts';
import type { RetryOffers } from './failed-file.ts';
import { createFreeze } from './freeze.ts';
import { createIndexPage } from './page/index-page.ts';
import { createPeriodFiles } from './period-files.ts';
import { createRunFiles } from './run-files.ts';
import { createCompareRuns } from './statement/compare-runs.ts';
import { createClosePeriod } from './statement/freeze-period.ts';
import { createDiscrepancyWorkbook } from './workbook/discrepancy-workbook.ts';

/** The reporting stage: everything under the reports folder is written here, each file whole or not at all. */
export function createReporting(deps: {
  ledger: Ledger;
  config: Config;
  paths: { reports: string };
  retries: RetryOffers;
  /** The account that is asked now (P31). Another account's list says nothing about this one. */
  account?: Payer | null;
}) {
  const { ledger, config, account = null } = deps;
  const parts = { ledger, config, account, reports: deps.paths.reports };
  const results = createBatchResults({ ...parts, retries: deps.retries });
  const runs = createRunFiles(parts);
  const periods = createPeriodFiles(parts);
  const writeIndex = createIndexPage(parts);
  return {
    writeBatchResults: results.write,
    /** As `writeDue`. When a folder cannot be written, the index still shows what was written. */
    async writeDueBatchResults(): Promise<string[]> {
      try {
        return await results.writeDue();
      } catch (error) {
        if (forbiddenPlace(error)) await writeIndex();
        throw error;
      }
    },
    freezeRun: createFreeze(parts),
    writeRun: runs.writeRun,
    writeDueRuns: runs.writeDue,
    closePeriod: createClosePeriod(parts),
    compareRuns: createCompareRuns(parts),
    writePeriod: periods.write,
    writeLastPeriod: periods.writeLast,
    writeIndex,
    discrepancyWorkbook: createDiscrepancyWorkbook(parts),
    lastRun: runs.lastRun,
    runPaths: runs.pathsOf,
  };
}
