import { z } from 'zod';
import { type Draw, openCharts } from './charts.ts';
import { actionSection } from './page-action.ts';
import { figureSections, figureTitles } from './page-figures.ts';
import { escapeHtml, pageFrame, paragraph, section, table } from './page-markup.ts';
import { statementSection } from './page-statement.ts';
import { pageStyle } from './page-style.ts';
import { counted, when } from './page-words.ts';

/** What the page shows of the run's summary; older runs lack some of it. */
const summaryShape = z.object({
  complete: z.union([z.boolean(), z.literal('window')]).optional(),
  listed: z.number().optional(),
  matched: z.number().optional(),
  trouble: z.string().optional(),
  webhooks: z.record(z.string(), z.number()).optional().catch(undefined),
});
type Summary = z.infer<typeof summaryShape>;

export type ReportPage = {
  run: { id: string; mode: string; started_at: string; summary: string | null };
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

async function drawnPage({ run, sheets, zone, files }: ReportPage, draw: Draw): Promise<string> {
  const summary = run.summary === null ? {} : summaryShape.parse(JSON.parse(run.summary));
  const contents = [
    { id: 'action', title: 'What needs action' },
    { id: 'statement', title: 'Statement' },
    ...figureTitles,
    ...(summary.webhooks ? [{ id: 'webhooks', title: 'Webhooks' }] : []),
  ];
  const whole = summary.complete !== false;
  const trouble = summary.trouble ?? (whole ? null : 'the reason is not known');
  const body = `<header>
<nav aria-label="Reports"><ul><li><a href="../index.html">All reports</a></li>${files.map((name) => `<li><a href="${escapeHtml(encodeURIComponent(name))}">${escapeHtml(name)}</a></li>`).join('')}</ul></nav>
<h1>Reconciliation ${escapeHtml(run.id)}</h1>
<p>Mode <strong>${escapeHtml(run.mode)}</strong>, begun ${escapeHtml(when(run.started_at, zone))} (${escapeHtml(zone)}). ${escapeHtml(scopeText(summary))}</p>
<nav aria-label="On this page"><ul>${contents.map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`).join('')}</ul></nav>
</header>
<main id="main" tabindex="-1">
${actionSection(sheets, { zone, trouble, whole })}${statementSection(sheets.statement)}${await figureSections(sheets, draw)}${webhookSection(summary)}</main>
<footer><p>Made by Counterfoil from what it knew at the end of this run; writing it again gives the same page. “The last 31 days” are those up to the run, as ${escapeHtml(zone)} counts days.</p></footer>
`;
  return pageFrame(`Reconciliation ${run.id} (${run.mode})`, pageStyle, body);
}

function scopeText({ complete, listed, matched }: Summary): string {
  const list =
    complete === true
      ? 'The service’s list was proven complete'
      : complete === 'window'
        ? 'The service’s list was read back to the edge of the window'
        : 'The service’s list was not proven complete';
  if (listed === undefined || matched === undefined) return `${list}.`;
  return `${list}: ${counted(listed, 'transfer')}, ${counted(matched, 'payout')} of ours among them.`;
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
