import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { type NamedCells, records, totalOf } from '../../../books/sheet.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { isUsable, type ListStanding } from '../../../core/domain/verdict.ts';
import { overturnedWords } from '../../../words/line-words.ts';
import { type Html, html } from '../kit/html.ts';
import { link, pageSection } from '../kit/parts.ts';
import { itemTable } from './action-items.ts';
import type { Shown } from './action-story.ts';
import { headingTime, localTimes } from './page-words.ts';

export type ActionSheets = { action?: string[][]; open?: string[][]; halt?: string[][] };

type About = Shown & { list: ListStanding | null; verdicts: readonly RunVerdict[] };

/** What a person must do: a halt first, then open discrepancies, the gravest first. */
export function actionSection(sheets: ActionSheets, about: About): Html {
  const all = records(sheets.open);
  const acknowledged = totalOf(all.filter((row) => row.state === 'acknowledged'));
  const parts = [
    ...records(sheets.halt).map((row) => haltNotice(row, about.zone)),
    overturnedNotice(about.verdicts),
    sheets.action === undefined
      ? html`<p>This run was made before figures were kept: see discrepancies.csv for what is open.</p>\n`
      : openPart(records(sheets.action), totalOf(all.filter((row) => row.state === 'open')), about),
    acknowledged > 0n
      ? html`<p>${counted(acknowledged, 'discrepancy', 'discrepancies')} more acknowledged: somebody is at work on them.</p>\n`
      : html``,
  ];
  return pageSection('action', 'What to do', parts);
}

/** Payouts that were reported as paid and are not. They come before all other open items. */
function overturnedNotice(verdicts: readonly RunVerdict[]): Html {
  const named = verdicts
    .filter(({ overturned }) => overturned > 0n)
    .map(({ currency, overturned }) => `${counted(overturned, 'payout')} in ${currency}`);
  if (named.length === 0) return html``;
  return html`<p><strong class="bad">${overturnedWords}:</strong> ${named.join(', ')}.</p>\n`;
}

function openPart(rows: NamedCells[], count: bigint, { list, ...shown }: About): Html {
  const notChecked =
    !isUsable(list) &&
    html`<p><strong>Not checked:</strong> without a list to compare with, this run could not look for ${count === 0n ? 'discrepancies' : 'others'}.</p>\n`;
  if (count === 0n) return notChecked || html`<p>Nothing is open: no discrepancy waits for a person.</p>\n`;
  const { table, covered } = itemTable(rows, shown);
  const rest = count - BigInt(covered);
  const more =
    rest > 0n &&
    html`<p><strong>… and ${grouped(`${rest}`)} more</strong> in ${link('discrepancies.csv', 'discrepancies.csv')}, in the same folder as this page.</p>\n`;
  return html`${notChecked}${table}${more}<p><strong>${counted(count, 'discrepancy', 'discrepancies')} open.</strong> Close each one that is dealt with, and note what was found out: <code>counterfoil discrepancies resolve ID --note NOTE</code>.</p>\n`;
}

function haltNotice(row: NamedCells, zone: string): Html {
  const cause = localTimes(row.cause ?? '', zone);
  // A ledger barrier says itself how to lift it.
  const way = row.kinds === 'barrier' ? '' : ' When the cause is gone: counterfoil release --mode.';
  return html`<p class="notice"><strong>Sending is halted.</strong> Since ${headingTime(row.since ?? '', zone)}: ${cause}.${way} counterfoil status says whether it still stands.</p>\n`;
}
