import type { Config } from '../config.ts';
import type { Ledger } from '../ledger/open.ts';
import { createBatchResults } from './batch-results.ts';
import { createFreeze } from './freeze.ts';
import { createIndexPage } from './index-page.ts';
import { createRunFiles } from './run-files.ts';

/** The reporting stage: everything under the reports folder is written here, each file whole or not at all. */
export function createReporting(deps: { ledger: Ledger; config: Config; paths: { reports: string } }) {
  const parts = { ledger: deps.ledger, config: deps.config, reports: deps.paths.reports };
  const results = createBatchResults(parts);
  const runs = createRunFiles(parts);
  return {
    writeBatchResults: results.write,
    writeDueBatchResults: results.writeDue,
    freezeRun: createFreeze(parts),
    writeRun: runs.writeRun,
    writeIndex: createIndexPage(parts),
    lastRun: runs.lastRun,
    runPaths: runs.pathsOf,
  };
}
