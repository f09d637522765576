import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { differenceOf } from '../../../books/statement/difference.ts';
import { type CurrencyLines, isZero, lineOf } from '../../../books/statement/statement-figures.ts';
import { amountText, grouped } from '../../../core/domain/counted.ts';
import { exceptionLines } from '../../../core/domain/verdict.ts';
import { differenceName, differenceWords, lineWords, overturnedWords } from '../../../words/line-words.ts';
import { type Html, html } from '../kit/html.ts';

/**
 * What finance asks first: how far the list is from net paid, and the lines that come to it. Exceptions stand out. What a
 * run reported as paid and is not stands before it.
 */
export function differencePart(
  { currency, overturned }: Pick<RunVerdict, 'currency' | 'overturned'>,
  lines: CurrencyLines,
): Html {
  const { amount, reasons } = differenceOf(lines);
  const graves = new Set<string>(exceptionLines);
  const parts = reasons.map(({ line, figure }) => {
    const name = `${differenceName(line)}: ${grouped(`${figure.count}`.replace('-', ''))}`;
    const shown = graves.has(line) ? html`<b>${name}</b>` : html`<span>${name}</span>`;
    return html`<li>${shown} <span class="number">${grouped(figure.amount)}</span></li>`;
  });
  const worst = overturned > 0n && html`<p>${overturnedWords}: ${grouped(`${overturned}`)}</p>`;
  return html`${worst}<p class="difference"><b>${amountText(currency, amount)}</b> ${differenceWords}, listed less net paid</p>${parts.length > 0 && html`<ul class="made">${parts}</ul>`}`;
}

/** Exceptions that are in no sum, one text a line: counts without an amount. */
export function besideTexts(lines: CurrencyLines): string[] {
  const inSum = new Set<string>(differenceOf(lines).reasons.map(({ line }) => line));
  const beside = exceptionLines.filter((line) => !inSum.has(line) && !isZero(lineOf(lines, line)));
  return beside.map((line) => `${lineWords[line]}: ${grouped(`${lineOf(lines, line).count}`)}`);
}
