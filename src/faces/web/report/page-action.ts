import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { type NamedCells, records, totalOf } from '../../../books/sheet.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { isUsable, type ListStanding } from '../../../core/domain/verdict.ts';
import { itemTable } from './action-items.ts';
import { escapeHtml, link, pageSection, paragraph } from './page-markup.ts';
import { headingTime, localTimes } from './page-words.ts';

export type ActionSheets = { action?: string[][]; open?: string[][]; halt?: string[][] };

type About = { zone: string; list: ListStanding | null; verdicts: readonly RunVerdict[] };

/** What a person must do: a halt first, then open discrepancies, the gravest first. */
export function actionSection(sheets: ActionSheets, about: About): string {
  const all = records(sheets.open);
  const acknowledged = totalOf(all.filter((row) => row.state === 'acknowledged'));
  const parts = [
    ...records(sheets.halt).map((row) => haltNotice(row, about.zone)),
    overturnedNotice(about.verdicts),
    sheets.action === undefined
      ? paragraph('This run was made before figures were kept: see discrepancies.csv for what is open.')
      : openPart(records(sheets.action), totalOf(all.filter((row) => row.state === 'open')), about),
    acknowledged > 0n
      ? paragraph(
          `${counted(acknowledged, 'discrepancy', 'discrepancies')} more acknowledged: somebody is at work on them.`,
        )
      : '',
  ];
  return pageSection('action', 'What to do', parts.join(''));
}

/** Payouts that were reported as paid and are not. They come before all other open items. */
function overturnedNotice(verdicts: readonly RunVerdict[]): string {
  const named = verdicts
    .filter(({ overturned }) => overturned > 0n)
    .map(({ currency, overturned }) => `${counted(overturned, 'payout')} in ${currency}`);
  if (named.length === 0) return '';
  return paragraph({
    html: `<strong class="bad">Reported as paid, failed at the service:</strong> ${escapeHtml(named.join(', '))}.`,
  });
}

function openPart(rows: NamedCells[], count: bigint, { zone, list }: About): string {
  const notChecked = isUsable(list)
    ? ''
    : paragraph({
        html: `<strong>Not checked:</strong> without a list to compare with, this run could not look for ${count === 0n ? 'discrepancies' : 'others'}.`,
      });
  if (count === 0n) return notChecked || paragraph('Nothing is open: no discrepancy waits for a person.');
  const { html, covered } = itemTable(rows, zone);
  const rest = count - BigInt(covered);
  const more =
    rest > 0n
      ? paragraph({
          html: `<strong>… and ${grouped(`${rest}`)} more</strong> in ${link('discrepancies.csv', 'discrepancies.csv')}, in the same folder as this page.`,
        })
      : '';
  const closing = paragraph({
    html: `<strong>${counted(count, 'discrepancy', 'discrepancies')} open.</strong> When one is dealt with, close it: <code>counterfoil discrepancies resolve ID</code>, with <code>--note</code> and what was found out.`,
  });
  return `${notChecked}${html}${more}${closing}`;
}

function haltNotice(row: NamedCells, zone: string): string {
  const cause = localTimes(row.cause ?? '', zone);
  // A ledger barrier says itself how to lift it.
  const way = row.kinds === 'barrier' ? '' : ' When the cause is gone: counterfoil release --mode.';
  return `<p class="notice"><strong>Sending is halted.</strong> Since ${escapeHtml(headingTime(row.since ?? '', zone))}: ${escapeHtml(cause)}.${way} counterfoil status says whether it still stands.</p>\n`;
}
