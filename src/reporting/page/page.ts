import { z } from 'zod';
import { counted } from '../../domain/counted.ts';
import type { ListStanding } from '../../domain/verdict.ts';
import type { RunVerdict } from '../run-verdicts.sql.ts';
import { type Draw, openCharts } from './charts.ts';
import { actionSection } from './page-action.ts';
import { figureSections, figureTitles } from './page-figures.ts';
import { escapeHtml, pageFrame, paragraph, section, table } from './page-markup.ts';
import { statementSection } from './page-statement.ts';
import { pageStyle } from './page-style.ts';
import { when } from './page-words.ts';
import { listWords } from './verdict-words.ts';

/** The part of the run's summary on the page; older runs lack some of it. */
const summaryShape = z.object({
  listed: z.number().optional(),
  matched: z.number().optional(),
  trouble: z.string().optional(),
  webhooks: z.record(z.string(), z.number()).optional().catch(undefined),
});
type Summary = z.infer<typeof summaryShape>;

export type ReportPage = {
  run: {
    id: string;
    mode: string;
    started_at: string;
    summary: string | null;
    list_standing: ListStanding | null;
  };
  /** The verdict on each currency. */
  verdicts: readonly RunVerdict[];
  /** The frozen sheets by name, header first; an older run may lack some. */
  sheets: Record<string, string[][]>;
  zone: string;
  /** The other files in its folder, by name. */
  files: string[];
};

/** report.html: what needs action, the statement, then the pictures, each with its table. Loads the drawing libraries. */
export async function reportPage(page: ReportPage): Promise<string> {
  const charts = openCharts();
  try {
    return await drawnPage(page, charts.draw);
  } finally {
    await charts.end();
  }
}

async function drawnPage({ run, verdicts, sheets, zone, files }: ReportPage, draw: Draw): Promise<string> {
  const summary = run.summary === null ? {} : summaryShape.parse(JSON.parse(run.summary));
  const contents = [
    { id: 'action', title: 'What needs action' },
    { id: 'statement', title: 'Statement' },
    ...figureTitles,
    ...(summary.webhooks ? [{ id: 'webhooks', title: 'Webhooks' }] : []),
  ];
  const list = run.list_standing;
  const body = `<header>
<nav aria-label="Reports"><ul><li><a href="../index.html">All reports</a></li>${files.map((name) => `<li><a href="${escapeHtml(encodeURIComponent(name))}">${escapeHtml(name)}</a></li>`).join('')}</ul></nav>
<h1>Reconciliation ${escapeHtml(run.id)}</h1>
<p>Mode <strong>${escapeHtml(run.mode)}</strong>, begun ${escapeHtml(when(run.started_at, zone))} (${escapeHtml(zone)}). ${escapeHtml(scopeText(summary, list))}</p>
<nav aria-label="On this page"><ul>${contents.map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`).join('')}</ul></nav>
</header>
<main id="main" tabindex="-1">
${actionSection(sheets, { zone, list, verdicts, trouble: summary.trouble ?? null })}${statementSection(sheets.statement, { list, verdicts })}${await figureSections(sheets, list, draw)}${webhookSection(summary)}</main>
<footer><p>Made by Counterfoil from what it knew at the end of this run; writing it again gives the same page. “The last 31 days” are those up to the run, as ${escapeHtml(zone)} counts days.</p></footer>
`;
  return pageFrame(`Reconciliation ${run.id} (${run.mode})`, pageStyle, body);
}

function scopeText({ listed, matched }: Summary, list: ListStanding | null): string {
  const words = listWords[list ?? 'unread'];
  if (listed === undefined || matched === undefined || list === 'unread') return `${words}.`;
  return `${words}: ${counted(listed, 'transfer')}, ${counted(matched, 'payout')} of ours among them.`;
}

const webhookNames: Record<string, string> = {
  due: 'Due: final transfers whose webhook should have come',
  heard: 'Heard',
  late: 'Heard late',
  forged: 'Refused: wrong signature',
  resent: 'Heard after we asked again',
};

function webhookSection({ webhooks }: Summary): string {
  if (!webhooks) return '';
  const { due = 0, heard = 0 } = webhooks;
  const lost = Math.max(0, due - heard);
  const words =
    due === 0
      ? 'No webhook was due.'
      : `${counted(lost, 'webhook')} of ${due} did not come (${((lost / due) * 100).toFixed(1)} of 100).`;
  const rows = Object.entries(webhooks).map(([name, count]) => [webhookNames[name] ?? name, `${count}`]);
  const columns = [{ name: 'Webhooks' }, { name: 'Number', number: true }];
  return section('webhooks', 'Webhooks', paragraph(words) + table('Webhooks of this run', columns, rows));
}
