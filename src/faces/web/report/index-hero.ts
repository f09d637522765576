import { readableTime } from '../../../books/presentation.ts';
import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { records } from '../../../books/sheet.ts';
import { counted } from '../../../core/domain/counted.ts';
import { runFolder } from '../../../core/domain/run-folder.ts';
import { isUsable } from '../../../core/domain/verdict.ts';
import type { Run } from '../../../core/storage/tables/tables.ts';
import { listSentence } from '../../../words/list-words.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import { type Html, html } from '../kit/html.ts';
import { pageSection } from '../kit/parts.ts';
import { downloads, openText, verdictBanner, verdictList } from './index-parts.ts';
import { verdictLines } from './verdict-lines.ts';

/** The newest run with its frozen sheets `open`, `halt` and `statement`; an older run may lack some. */
export type LatestRun = {
  run: Run;
  /** The newest run with a usable list; null where none is known. */
  compared: Run | null;
  verdicts: readonly RunVerdict[];
  sheets: Record<string, string[][] | undefined>;
  zone: string;
  files: readonly string[];
};

/** The most currencies with a banner; the report has all. */
const mostBanners = 6;

/** The answer of the newest run: the verdict per currency, what needs a person, and where to read on. */
export function heroSection({ run, compared, verdicts, sheets, zone, files }: LatestRun): Html {
  const folder = runFolder(run.id);
  const list = run.list_standing;
  const statement = records(sheets.statement);
  const banners = verdicts
    .slice(0, mostBanners)
    .map((one) => verdictBanner(one.currency, one.verdict, verdictLines(one, { statement, list })));
  const more = verdicts.length - banners.length;
  const halt = records(sheets.halt).length > 0 && html` <span class="bad">Sending was halted.</span>`;
  const open =
    files.includes('report.html') && html`<p><a class="go" href="${hrefOf(run)}">Open the report</a></p>`;
  const none = isUsable(list) ? verdictWords.none.sentence : listSentence(list);
  const last =
    compared === null
      ? 'never'
      : html`<a href="${hrefOf(compared)}">${readableTime(compared.started_at, zone)}</a>`;
  // Otherwise the banners say it.
  const listed = isUsable(list) && html`<p class="soft">${listSentence(list)}</p>\n`;
  const before = !isUsable(list) && html`<p>Last compared with the service’s list: ${last}.</p>\n`;
  return html`<section id="latest" class="hero">
<h2>Latest reconciliation, ${readableTime(run.started_at, zone)}</h2>
${listed}${banners.length > 0 ? html`<ul class="verdicts">${banners}</ul>` : html`<p>${verdictList(run.verdict, [])}. ${none}</p>\n`}${more > 0 && html`<p>… and ${counted(more, 'more currency', 'more currencies')} in the report.</p>\n`}
${before}<p>Needs a person: ${openText(sheets.open, list)}${halt}</p>
${open}${downloads(folder, files, `the reconciliation of ${readableTime(run.started_at, zone)}`)}
</section>\n`;
}

function hrefOf({ id }: Run): string {
  return `${encodeURIComponent(runFolder(id))}/report.html`;
}

export const noHero = pageSection(
  'latest',
  'Latest reconciliation',
  html`<p>No reconciliation has finished yet.</p>\n`,
);
