import { z } from 'zod';
import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { records, totalOf } from '../../../books/sheet.ts';
import type { Banks } from '../../../core/domain/banks.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { plainTrouble } from '../../../core/domain/run-error.ts';
import type { ListStanding } from '../../../core/domain/verdict.ts';
import type { Run } from '../../../core/storage/tables/tables.ts';
import { listStart } from '../../../words/list-words.ts';
import { filePage } from '../kit/frame.ts';
import { type Html, html } from '../kit/html.ts';
import { link, pageSection } from '../kit/parts.ts';
import { pageStyle } from '../kit/style.ts';
import { wideTable } from '../kit/table.ts';
import { type Draw, openCharts } from './charts.ts';
import { actionSection } from './page-action.ts';
import { figureSections, lineItem } from './page-figures.ts';
import { statementSection } from './page-statement.ts';
import { tileSection } from './page-tiles.ts';
import { verdictSection } from './page-verdicts.ts';
import { headingTime } from './page-words.ts';
import { reportStyle } from './report-style.ts';

/** The part of the run's summary on the page; older runs lack some of it. */
const summaryShape = z.object({
  listed: z.number().optional(),
  matched: z.number().optional(),
  trouble: z.string().optional(),
  webhooks: z.record(z.string(), z.number()).optional().catch(undefined),
});
type Summary = z.infer<typeof summaryShape>;

export type ReportPage = {
  run: Pick<Run, 'id' | 'started_at' | 'summary' | 'list_standing' | 'verdict'> & { mode: string };
  verdicts: readonly RunVerdict[];
  /** The frozen sheets by name, header first; an older run may lack some. */
  sheets: Record<string, string[][]>;
  zone: string;
  files: string[];
  banks?: Banks | undefined;
};

/** report.html: verdict, totals, what to do, the statement, then the pictures. Loads the drawing libraries. */
export async function reportPage(page: ReportPage): Promise<string> {
  const charts = openCharts();
  try {
    return await drawnPage(page, charts.draw);
  } finally {
    await charts.end();
  }
}

async function drawnPage(page: ReportPage, draw: Draw): Promise<string> {
  const { run, verdicts, sheets, zone, files, banks } = page;
  const summary = run.summary === null ? {} : summaryShape.parse(JSON.parse(run.summary));
  const list = run.list_standing;
  const judged = {
    verdict: run.verdict,
    verdicts,
    list,
    trouble: summary.trouble === undefined ? null : plainTrouble(summary.trouble),
    zone,
    open: openCounts(sheets.open),
  };
  const title = `Reconciliation, ${headingTime(run.started_at, zone)}`;
  const body = html`<header>
<h1>${title}</h1>
<nav aria-label="Pages"><ul><li><a href="../index.html">All reports</a></li><li><a href="#action">What to do</a></li><li><a href="#statement">Statement</a></li><li><a href="#pictures">Pictures</a></li><li><a href="#files">Files</a></li></ul></nav>
<p class="soft"><strong>${run.mode}</strong> mode · ${zone} · ${scopeText(summary, list)}</p>
</header>
<main id="main" tabindex="-1">
${verdictSection(sheets.statement, judged)}${tileSection(sheets, list)}${actionSection(sheets, { zone, list, verdicts, banks })}${statementSection(sheets.statement, { list, verdicts })}${await figureSections(sheets, { list, lines: webhookLine(summary), banks }, draw)}${fileSection(files)}</main>
<footer><p>Run <code>${run.id}</code>. Made by Counterfoil from what it knew at the end of this run. Days and times are those of ${zone}.</p></footer>
`;
  return filePage({ title, style: pageStyle + reportStyle, body });
}

function openCounts(sheet: string[][] | undefined): Map<string, bigint> {
  const open = records(sheet).filter(({ state }) => state === 'open');
  const groups = Map.groupBy(open, ({ currency = '' }) => currency);
  return new Map([...groups].map(([currency, rows]) => [currency, totalOf(rows)]));
}

function scopeText({ listed, matched }: Summary, list: ListStanding | null): string {
  const words = listStart(list);
  if (listed === undefined || matched === undefined || list === 'unread') return words;
  return `${words}: ${counted(listed, 'transfer')}, ${counted(matched, 'payout')} of ours among them`;
}

function fileSection(files: string[]): Html {
  const links = files.map((name) => html`<li>${link(name, name)}</li>`);
  return pageSection('files', 'Files', html`<ul class="files">${links}</ul>\n`);
}

const webhookNames: Record<string, string> = {
  due: 'Due: final transfers whose webhook should have come',
  heard: 'Received',
  late: 'Received late',
  forged: 'Refused: wrong signature',
  resent: 'Received after we asked again',
};

/** One line with the numbers folded; nothing where no webhook was due. */
function webhookLine({ webhooks }: Summary): Html[] {
  if (!webhooks) return [];
  const { due = 0, heard = 0 } = webhooks;
  if (due === 0) return [];
  const lost = Math.max(0, due - heard);
  const words = `${counted(lost, 'webhook')} of ${grouped(`${due}`)} did not come (${((lost / due) * 100).toFixed(1)}%).`;
  const rows = Object.entries(webhooks).map(([name, count]) => [
    webhookNames[name] ?? name,
    grouped(`${count}`),
  ]);
  const columns = ['Webhooks', { number: 'Number' }];
  const table = wideTable('Webhooks of this run', columns, rows, { seen: true });
  const numbers = html`<details><summary>The numbers</summary>\n${table}</details>\n`;
  return [lineItem('webhooks', 'Webhooks', words, numbers)];
}
