import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from '../../domain/origin.ts';
import { isUsable } from '../../domain/verdict.ts';
import { foreignOrigins } from '../../ledger/origins.ts';
import { batchStandings, frozenSheets } from '../../reconciliation/open-questions.sql.ts';
import type { Config } from '../../settings/settings.ts';
import type { Ledger } from '../../storage/ledger.ts';
import type { Batch, Run } from '../../storage/tables/tables.ts';
import { whole, writeAtomically } from '../atomic-file.ts';
import { closedPeriods } from '../periods.sql.ts';
import { frozenRuns, reportedBatches } from '../reports.sql.ts';
import { lastRun, verdictsOf } from '../run-verdicts.sql.ts';
import { storedCells } from '../stored-cells.ts';
import { batchColumns, batchRows, monthColumns, monthRow, runColumns, runRow } from './index-rows.ts';
import { escapeHtml, link, pageFrame, paragraph, section } from './page-markup.ts';
import { pageStyle } from './page-style.ts';

/** The most batches, and the most runs, on one page. Older ones are on the next page. */
const perPage = 200;

/**
 * Writes index.html, the entry to all reports: every run and batch, newest first, each with its state. Older ones go to
 * index-2.html and so on. Returns the path of the first.
 */
export function createIndexPage(deps: {
  ledger: Ledger;
  config: Config;
  reports: string;
  account: Account | null;
}) {
  const { ledger, config, reports, account } = deps;
  const zone = config.reports.timezone;

  async function runTable(runs: Run[]): Promise<string> {
    const ids = runs.map(({ id }) => id);
    const frozen = Map.groupBy(await frozenSheets(ledger.db, ids, ['open']), ({ run_id }) => run_id);
    const verdicts = await verdictsOf(ledger.db, ids);
    const rowsOf = (run: string): string[][] | undefined =>
      frozen.get(run)?.map(({ cells }) => storedCells(cells));
    const exists = (run: string, name: string): boolean =>
      existsSync(join(reports, `reconciliation-${run}`, name));
    const rows = runs.map((run) => {
      const known = { open: rowsOf(run.id), verdicts: verdicts.get(run.id) ?? [] };
      return runRow(run, known, { zone, exists });
    });
    return rows.join('');
  }

  async function batchTable(batches: Batch[]): Promise<string> {
    const ids = batches.map(({ id }) => id);
    const standings = await batchStandings(ledger.db, ids);
    const last = await lastRun(ledger.db, await foreignOrigins(ledger.db, account));
    return batchRows(batches, standings, {
      zone,
      comparedAt: last && isUsable(last.list) ? last.startedAt : null,
      exists: (batch, name) => existsSync(join(reports, batch, name)),
    });
  }

  async function monthSection(): Promise<string> {
    const periods = (await closedPeriods(ledger.db)).toReversed();
    const rows = periods.map((period) => monthRow(period, zone)).join('');
    return rows === '' ? '' : listing('months', 'Closed months', monthColumns, rows, '');
  }

  async function pageOf(number: number, last: boolean, runs: Run[], batches: Batch[]): Promise<string> {
    const more = [
      ...(number > 1 ? [link(indexName(number - 1), 'Newer')] : []),
      ...(last ? [] : [link(indexName(number + 1), 'Older')]),
    ];
    const nav =
      more.length > 0
        ? `<nav aria-label="Pages"><ul>${more.map((one) => `<li>${one}</li>`).join('')}</ul></nav>\n`
        : '';
    const body = `<header>
<h1>Counterfoil reports${number > 1 ? `, page ${number}` : ''}</h1>
<p>Mode <strong>${config.mode}</strong>. Times: ${escapeHtml(zone)}.</p>
${nav}</header>
<main id="main" tabindex="-1">
${listing('runs', 'Reconciliations', runColumns, await runTable(runs), 'No reconciliation has finished yet.')}${listing('batches', 'Batches', batchColumns, await batchTable(batches), 'No batch has results yet.')}${number === 1 ? await monthSection() : ''}</main>
<footer>${nav}</footer>
`;
    return pageFrame(`Counterfoil reports (${config.mode})`, pageStyle, body);
  }

  return async function writeIndex(): Promise<string> {
    const runs = chunked(frozenRuns(ledger.db));
    const batches = chunked(reportedBatches(ledger.db));
    let [someRuns, someBatches] = [await runs(), await batches()];
    for (let number = 1; ; number++) {
      const [nextRuns, nextBatches] = [await runs(), await batches()];
      const last = nextRuns.length + nextBatches.length === 0;
      const html = await pageOf(number, last, someRuns, someBatches);
      await writeAtomically(join(reports, indexName(number)), whole(html));
      if (last) return join(reports, indexName(1));
      [someRuns, someBatches] = [nextRuns, nextBatches];
    }
  };
}

function indexName(number: number): string {
  return number === 1 ? 'index.html' : `index-${number}.html`;
}

/** Returns the next rows of a stream of pages, enough for one index page; an empty array at the end. */
function chunked<T>(pages: AsyncGenerator<T[]>): () => Promise<T[]> {
  let waiting: T[] = [];
  return async () => {
    while (waiting.length < perPage) {
      const { value, done } = await pages.next();
      if (done === true) break;
      waiting = [...waiting, ...value];
    }
    const some = waiting.slice(0, perPage);
    waiting = waiting.slice(perPage);
    return some;
  };
}

function listing(id: string, title: string, columns: readonly string[], rows: string, none: string): string {
  if (rows === '') return section(id, title, paragraph(none));
  const head = columns.map(
    (name) => `<th scope="col"${name === 'Rows' ? ' class="number"' : ''}>${escapeHtml(name)}</th>`,
  );
  return section(
    id,
    title,
    `<div class="wide" role="region" aria-labelledby="${id}-title" tabindex="0">
<table>
<thead><tr>${head.join('')}</tr></thead>
<tbody>\n${rows}</tbody>
</table>
</div>\n`,
  );
}
