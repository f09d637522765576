import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Ledger } from '../ledger/open.ts';
import { frozenRuns, reportedBatches } from '../ledger/reports.ts';
import type { Batch, Run } from '../ledger/tables.ts';
import { writeAtomically } from './atomic-file.ts';
import { zoned } from './presentation.ts';
import { runSheets } from './run-files.ts';
import { xlsxRowLimit } from './xlsx-file.ts';

const style = `:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:CanvasText;background:Canvas}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.4rem .8rem .4rem 0;border-bottom:1px solid GrayText;vertical-align:top}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
a{color:LinkText}a:focus-visible{outline:3px solid Highlight;outline-offset:2px}`;

/** Writes index.html, which links every batch's results and every run's reports, newest first; gives its path. */
export function createIndexPage(deps: { ledger: Ledger; config: Config; reports: string }) {
  const { ledger, config, reports } = deps;
  const zone = config.reports.timezone;

  async function* html(): AsyncGenerator<string> {
    yield `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n`;
    yield `<meta name="viewport" content="width=device-width, initial-scale=1">\n`;
    yield `<title>Counterfoil reports (${config.mode})</title>\n<style>\n${style}\n</style>\n</head>\n<body>\n`;
    yield `<main>\n<h1>Counterfoil reports</h1>\n<p>Mode: <strong>${config.mode}</strong>. Times: ${escapeHtml(zone)}.</p>\n`;
    yield* section(
      'Batches',
      'results',
      ['Batch', 'File', 'Taken in', 'Rows', 'Results'],
      batchRows(),
      'No batch has results yet.',
    );
    yield* section(
      'Reconciliations',
      'runs',
      ['Run', 'Started', 'Reports'],
      runRows(),
      'No reconciliation has finished yet.',
    );
    yield '</main>\n</body>\n</html>\n';
  }

  async function* batchRows(): AsyncGenerator<string> {
    for await (const page of reportedBatches(ledger.db, config.mode))
      yield page.map((batch) => batchRow(batch, zone)).join('');
  }

  async function* runRows(): AsyncGenerator<string> {
    for await (const page of frozenRuns(ledger.db, config.mode))
      yield page.map((run) => runRow(run, zone)).join('');
  }

  return async function writeIndex(): Promise<string> {
    const path = join(reports, 'index.html');
    await writeAtomically(path, html());
    return path;
  };
}

async function* section(
  title: string,
  id: string,
  columns: string[],
  rows: AsyncIterable<string>,
  none: string,
): AsyncGenerator<string> {
  yield `<section aria-labelledby="${id}">\n<h2 id="${id}">${title}</h2>\n`;
  const headings = columns.map(
    (name) => `<th scope="col"${name === 'Rows' ? ' class="number"' : ''}>${name}</th>`,
  );
  let open = false;
  for await (const some of rows) {
    if (!open)
      yield `<div class="wide">\n<table>\n<thead>\n<tr>${headings.join('')}</tr>\n</thead>\n<tbody>\n`;
    open = true;
    yield some;
  }
  yield open ? '</tbody>\n</table>\n</div>\n' : `<p>${none}</p>\n`;
  yield '</section>\n';
}

function batchRow(batch: Batch, zone: string): string {
  const kinds = batch.row_count <= xlsxRowLimit ? ['csv', 'xlsx'] : ['csv'];
  const links = kinds.map((kind) => link(`${batch.id}/results.${kind}`, `results.${kind}`, batch.id));
  return `<tr><th scope="row">${escapeHtml(batch.id)}</th><td>${escapeHtml(batch.file_name)}</td><td>${time(batch.created_at, zone)}</td><td class="number">${batch.row_count}</td><td>${links.join(' · ')}</td></tr>\n`;
}

function runRow(run: Run, zone: string): string {
  const names = [
    ...runSheets.map((sheet) => `${sheet}.csv`),
    ...(run.summary === null ? [] : ['summary.json']),
  ];
  const links = names.map((name) => link(`reconciliation-${run.id}/${name}`, name, run.id));
  return `<tr><th scope="row">${escapeHtml(run.id)}</th><td>${time(run.started_at, zone)}</td><td>${links.join(' · ')}</td></tr>\n`;
}

/** The spoken name holds the row's, so that a list of all links on the page still makes sense. */
function link(path: string, name: string, of: string): string {
  const href = path.split('/').map(encodeURIComponent).join('/');
  return `<a href="${escapeHtml(href)}" aria-label="${escapeHtml(`${name} of ${of}`)}">${escapeHtml(name)}</a>`;
}

function time(instant: string, zone: string): string {
  return `<time datetime="${escapeHtml(instant)}">${escapeHtml(zoned(instant, zone))}</time>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
