import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type LastRun, type RunVerdict, runEnd } from '../../../books/run-verdicts.sql.ts';
import { records } from '../../../books/sheet.ts';
import { runFolder } from '../../../core/domain/run-folder.ts';
import type { Run } from '../../../core/storage/tables/tables.ts';
import { keptReportsTexts } from '../../../words/kept-reports.ts';
import { listStart } from '../../../words/list-words.ts';
import { repeatedTexts, shortTime } from '../../../words/short-times.ts';
import { decidedWords } from '../../../words/verdict-words.ts';
import { type Html, html } from '../kit/html.ts';
import { separated, way } from '../kit/parts.ts';
import { wideTable } from '../kit/table.ts';
import { statementBody } from '../report/page-statement.ts';
import { duration } from '../report/page-words.ts';
import { form } from './forms.ts';
import type { View } from './frame.ts';
import { type PartOfList, pages } from './pages.ts';
import { facts, panel, time, verdictText } from './parts.ts';
import { reconcilingPart } from './reconciling-view.ts';
import type { UnendedRun } from './runs.sql.ts';

type ListedRuns = {
  runs: readonly Run[];
  verdicts: Map<string, RunVerdict[]>;
  page: PartOfList;
  /** `already`: the reader asked for one while another ran. */
  now: { unended: UnendedRun | null; last: LastRun | null; already: boolean };
};

/** Runs by the time at which they began: their ids are for files and commands. */
export function runsView({ runs, verdicts, page, now }: ListedRuns, view: View): Html {
  const { unended, last, already } = now;
  const minuteOf = ({ started_at }: Run): string => shortTime(started_at, view.zone, view.now);
  const alike = repeatedTexts(runs.map(minuteOf));
  const rows = runs.map((run) => [
    html`<a href="/runs/${run.id}">${time(run.started_at, view, alike.has(minuteOf(run)))}</a>`,
    currencyVerdicts(run, { verdicts: verdicts.get(run.id) ?? [], unended }),
    run.list_standing === null ? '' : listStart(run.list_standing),
    tookText(run),
  ]);
  const order = form(view, {
    action: '/runs',
    fields: [],
    buttons: [{ name: 'Reconcile now' }, { name: 'Reconcile the whole list', value: ['full', 'yes'] }],
  });
  return html`<h1>Reconciliations</h1>
${page.number === 1 && reconcilingPart(unended, last, view)}
${already && html`<p>One ran already when you pressed: no second one was begun.</p>`}
${unended?.kind === 'runs' ? '' : order}
${panel('Newest first', rows.length > 0 ? wideTable('Reconciliations', ['Begun', 'Verdict', 'List', 'Took'], rows) : html`<p>No reconciliation has run yet.</p>`)}
${pages('/runs', page)}`;
}

function verdictOf(run: Run, unended: UnendedRun | null): Html | string {
  if (run.verdict !== null) return verdictText(run.verdict);
  if (unended?.run === run.id && unended.kind === 'runs') return 'runs now';
  return 'died before its end';
}

function tookText(run: Run): string {
  const end = runEnd(run);
  return end === null ? '' : duration(secondsBetween(run.started_at, end));
}

/** What each currency has; without any, the verdict of the whole. */
function currencyVerdicts(
  run: Run,
  { verdicts, unended }: { verdicts: readonly RunVerdict[]; unended: UnendedRun | null },
): Html | string {
  if (verdicts.length === 0) return verdictOf(run, unended);
  return separated(
    verdicts.map(({ currency, verdict }) => html`${currency} ${verdictText(verdict)}`),
    html`<br>`,
  );
}

function secondsBetween(from: string, until: string): number {
  return Math.max(0, Math.round((Date.parse(until) - Date.parse(from)) / 1000));
}

export function runTitle({ started_at }: Run, { zone, now }: View): string {
  return `Reconciliation of ${shortTime(started_at, zone, now)}`;
}

const files = [
  'report.html',
  'report.xlsx',
  'statement.csv',
  'payouts.csv',
  'discrepancies.csv',
  'ageing.csv',
];

/** One reconciliation: its verdicts, its statement, and its files. */
export function runView(
  run: Run,
  {
    verdicts,
    statement,
    unended,
    reports,
    keepDays,
    decided,
  }: {
    verdicts: readonly RunVerdict[];
    statement: string[][];
    unended: UnendedRun | null;
    reports: string;
    keepDays: number;
    /** How many of its discrepancies people decided, where it is the last and none is open. */
    decided: number;
  },
  view: View,
): Html {
  const folder = runFolder(run.id);
  const links = files
    .filter((name) => existsSync(join(reports, folder, name)))
    .map((name) => html`<li>${way(view, `/reports/${folder}/${name}`, name)}</li>`);
  return html`<h1>${runTitle(run, view)}</h1>
${unended?.run === run.id && reconcilingPart(unended, null, view)}
${panel(
  'Verdict',
  html`${facts([
    ['Verdict', verdictOf(run, unended)],
    ['List', run.list_standing === null ? 'not read' : listStart(run.list_standing)],
    ['Begun', time(run.started_at, view)],
    ['Ended', time(runEnd(run), view)],
    ['Name in files', run.id],
  ])}
${
  verdicts.length > 0 &&
  wideTable(
    'Verdict per currency',
    ['Currency', 'Verdict'],
    verdicts.map(({ currency, verdict }) => [currency, verdictText(verdict)]),
  )
}
${decided > 0 && html`<p>${decidedWords(decided)}</p>`}<p><a href="/discrepancies">Discrepancies that are open now</a> · <a href="/discrepancies?state=resolved">Those that are resolved</a></p>`,
)}
${links.length > 0 && panel('Files', html`<ul>${links}</ul>`)}
${links.length === 0 && run.frozen !== null && panel('Files', filesPart(run, keepDays, view))}
${statement.length > 0 && panel('Statement', statementBody(records(statement), { list: run.list_standing, verdicts, csv: 'statement.csv' }))}`;
}

function filesPart(run: Run, keepDays: number, view: View): Html {
  if (run.reports_due === 1n) return html`<p>They are being written.</p>`;
  const again = { action: `/runs/${run.id}/report`, role: 'read' as const, fields: [] };
  return html`<p>${keptReportsTexts(run.id, keepDays).page}</p>${form(view, { ...again, buttons: [{ name: 'Write them again' }] })}`;
}
