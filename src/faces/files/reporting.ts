import { createFreeze } from '../../books/freeze.ts';
import { createClosePeriod } from '../../books/statement/freeze-period.ts';
import { forbiddenPlace } from '../../core/domain/forbidden.ts';
import type { ServiceAccount } from '../../core/domain/origin.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { frozenWords } from '../../words/frozen-words.ts';
import { createIndexPage } from '../web/report/index-page.ts';
import { createBatchResults } from './batch-results.ts';
import { createCompareRuns } from './compare-runs.ts';
import type { RetryOffers } from './failed-file.ts';
import { createOldReports } from './old-reports.ts';
import { createPeriodFiles } from './period-files.ts';
import { createRunFiles } from './run-files.ts';
import { createDiscrepancyWorkbook } from './workbook/discrepancy-workbook.ts';

/** The reporting stage: everything under the reports folder is written here, each file whole or not at all. */
export function createReporting(deps: {
  ledger: Ledger;
  config: Config;
  paths: { reports: string };
  retries: RetryOffers;
  /** The account that is asked now (P31). Another account's list says nothing about this one. */
  account?: ServiceAccount | null;
}) {
  const { ledger, config, account = null } = deps;
  const parts = { ledger, config, account, reports: deps.paths.reports, words: frozenWords };
  const results = createBatchResults({ ...parts, retries: deps.retries });
  const runs = createRunFiles(parts);
  const periods = createPeriodFiles(parts);
  const writeIndex = createIndexPage(parts);
  const months = createClosePeriod(parts);
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
    removeOldRuns: createOldReports({ ...parts, pathsOf: runs.pathsOf }),
    closePeriod: months.close,
    foreseeClose: months.foresee,
    compareRuns: createCompareRuns(parts),
    writePeriod: periods.write,
    writeLastPeriod: periods.writeLast,
    writeIndex,
    discrepancyWorkbook: createDiscrepancyWorkbook(parts),
    lastRun: runs.lastRun,
    runPaths: runs.pathsOf,
  };
}
