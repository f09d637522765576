import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { frozenRuns, reportedBatches } from '../../../books/batch-results.sql.ts';
import { batchSums } from '../../../books/batch-sums.sql.ts';
import { closedMonth, periodFiles, periodFolder } from '../../../books/closed-month.ts';
import { unchangedSince } from '../../../books/compared-batches.sql.ts';
import { closedPeriods } from '../../../books/periods.sql.ts';
import { readableTime } from '../../../books/presentation.ts';
import { runSheets, sheetOfRuns } from '../../../books/run-sheets.sql.ts';
import { lastRun, verdictsOf } from '../../../books/run-verdicts.sql.ts';
import { storedCells } from '../../../books/sheet.ts';
import type { ServiceAccount } from '../../../core/domain/origin.ts';
import { runFolder } from '../../../core/domain/run-folder.ts';
import { isUsable } from '../../../core/domain/verdict.ts';
import { foreignOrigins } from '../../../core/ledger/origins.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { writeAtomically } from '../../../core/storage/atomic-file.ts';
import type { Ledger } from '../../../core/storage/ledger.ts';
import type { Batch, Run } from '../../../core/storage/tables/tables.ts';
import { approvalsOf } from '../../../sending/approvals.sql.ts';
import { repeatedTexts } from '../../../words/short-times.ts';
import { filePage } from '../kit/frame.ts';
import { type Html, html } from '../kit/html.ts';
import { link, pageSection } from '../kit/parts.ts';
import { pageStyle } from '../kit/style.ts';
import { type HtmlCell, type HtmlColumn, wideTable } from '../kit/table.ts';
import { batchVerdict } from './batch-verdict.ts';
import { heroSection, noHero } from './index-hero.ts';
import { batchRow, indexBatchColumns, monthColumns, monthRow, runColumns, runRow } from './index-rows.ts';
import { indexScript } from './index-script.ts';
import { indexStyle } from './index-style.ts';

/** The most batches, and the most runs, on one page, which its search covers. Older ones are on the next page. */
const perPage = 1_000;

/**
 * Writes index.html, the entry to all reports: the newest run, the closed months, and every batch and run, newest first.
 * Older ones go to index-2.html and so on. Returns the path of the first.
 */
export function createIndexPage(deps: {
  ledger: Ledger;
  config: Config;
  reports: string;
  account: ServiceAccount | null;
}) {
  const { ledger, config, reports, account } = deps;
  const zone = config.reports.timezone;
  const present = (folder: string, names: readonly string[]): string[] =>
    names.filter((name) => existsSync(join(reports, folder, name)));

  function filesOf(run: Run): string[] {
    const sheets = runSheets.map((sheet) => `${sheet}.csv`);
    return present(runFolder(run.id), ['report.html', 'report.xlsx', ...sheets, 'summary.json']);
  }

  /** The frozen sheets of these names, by run. */
  async function sheetsOf(runs: readonly Run[], names: string[]) {
    const ids = runs.map(({ id }) => id);
    const sheets: [string, Map<string, string[][]>][] = [];
    for (const name of names) {
      const rows = Map.groupBy(await sheetOfRuns(ledger.db, ids, name), ({ run_id }) => run_id);
      const cellsOf = [...rows].map(
        ([run, some]) => [run, some.map(({ cells }) => storedCells(cells))] as const,
      );
      sheets.push([name, new Map(cellsOf)]);
    }
    return (run: string): Record<string, string[][] | undefined> =>
      Object.fromEntries(sheets.map(([name, byRun]) => [name, byRun.get(run)]));
  }

  async function hero(runs: readonly Run[]): Promise<Html> {
    const [run] = runs;
    if (!run) return noHero;
    const compared = runs.find(({ list_standing }) => isUsable(list_standing)) ?? null;
    const sheets = (await sheetsOf([run], ['open', 'halt', 'statement']))(run.id);
    const verdicts = (await verdictsOf(ledger.db, [run.id])).get(run.id) ?? [];
    return heroSection({ run, compared, verdicts, sheets, zone, files: filesOf(run) });
  }

  async function runTable(runs: Run[]): Promise<HtmlCell[][]> {
    const ids = runs.map(({ id }) => id);
    const sheets = await sheetsOf(runs, ['open']);
    const verdicts = await verdictsOf(ledger.db, ids);
    const minuteOf = (run: Run): string => readableTime(run.started_at, zone);
    const alike = repeatedTexts(runs.map(minuteOf));
    return runs.map((run) => {
      const known = { open: sheets(run.id).open, verdicts: verdicts.get(run.id) ?? [], files: filesOf(run) };
      return runRow(run, known, {
        zone,
        keepDays: config.reports.keepDays,
        seconds: alike.has(minuteOf(run)),
      });
    });
  }

  async function batchTable(batches: Batch[]): Promise<HtmlCell[][]> {
    const ids = batches.map(({ id }) => id);
    const all = await batchSums(ledger.db, ids);
    const approvals = await approvalsOf(ledger.db, ids);
    const last = await lastRun(ledger.db, await foreignOrigins(ledger.db, account));
    const unchanged = last ? await unchangedSince(ledger.db, last.run, ids) : new Set();
    return batches.flatMap((batch) => {
      const sums = all.get(batch.id);
      if (!sums) return [];
      const verdict = batchVerdict(batch, sums, { last, isUnchanged: unchanged.has(batch.id) });
      const files = ['results.csv', ...present(batch.id, ['results.xlsx', 'failed.csv'])];
      const approvers = (approvals.get(batch.id) ?? []).map(({ by }) => by);
      return [batchRow(batch, { sums, verdict, files, approvers }, zone)];
    });
  }

  async function monthSection(): Promise<Html> {
    const rows: HtmlCell[][] = [];
    for (const period of (await closedPeriods(ledger.db)).toReversed()) {
      const { whole: worst, verdicts } = await closedMonth(ledger.db, period);
      const files = present(periodFolder(period.month), periodFiles);
      rows.push(monthRow(period, { whole: worst, verdicts, files }, zone));
    }
    return rows.length === 0 ? html`` : listing('months', 'Closed months', monthColumns, rows, '');
  }

  async function pageOf(number: number, last: boolean, runs: Run[], batches: Batch[]): Promise<string> {
    const more = [
      ...(number > 1 ? [link(indexName(number - 1), 'Newer')] : []),
      ...(last ? [] : [link(indexName(number + 1), 'Older')]),
    ];
    const nav =
      more.length > 0 &&
      html`<nav aria-label="Pages"><ul>${more.map((one) => html`<li>${one}</li>`)}</ul></nav>\n`;
    const first = number === 1 && html`${await hero(runs)}${await monthSection()}`;
    const body = html`<header>
<h1>Counterfoil reports${number > 1 ? `, page ${number}` : ''}</h1>
<p class="soft">Mode <strong>${config.mode}</strong>. Times: ${zone}.</p>
${nav}</header>
<main id="main" tabindex="-1">
${first}${listing('batches', 'Batches', indexBatchColumns, await batchTable(batches), 'No batch has results yet.')}${listing('runs', 'Reconciliations', runColumns, await runTable(runs), 'No reconciliation has finished yet.')}</main>
<footer>${nav}</footer>
`;
    const title = `Counterfoil reports (${config.mode})`;
    return filePage({ title, style: pageStyle + indexStyle, script: indexScript, body });
  }

  return async function writeIndex(): Promise<string> {
    const runs = chunked(frozenRuns(ledger.db));
    const batches = chunked(reportedBatches(ledger.db));
    let [someRuns, someBatches] = [await runs(), await batches()];
    for (let number = 1; ; number++) {
      const [nextRuns, nextBatches] = [await runs(), await batches()];
      const last = nextRuns.length + nextBatches.length === 0;
      const page = await pageOf(number, last, someRuns, someBatches);
      await writeAtomically(join(reports, indexName(number)), page);
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

function listing(
  id: string,
  title: string,
  columns: readonly HtmlColumn[],
  rows: HtmlCell[][],
  none: string,
): Html {
  if (rows.length === 0) return pageSection(id, title, html`<p>${none}</p>\n`);
  const table = wideTable(title, columns, rows);
  return pageSection(id, title, html`<div data-list="${title.toLowerCase()}">\n${table}</div>\n`);
}
