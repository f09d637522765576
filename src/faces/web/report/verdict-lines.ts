import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import type { NamedCells } from '../../../books/sheet.ts';
import { type DifferenceReason, differenceOf } from '../../../books/statement/difference.ts';
import {
  type CurrencyLines,
  type Figure,
  lineOf,
  linesByCurrency,
} from '../../../books/statement/statement-figures.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import {
  agrees,
  differs,
  exceptionLines,
  isCompared,
  type ListStanding,
} from '../../../core/domain/verdict.ts';
import { differenceWords, lineWords, overturnedWords } from '../../../words/line-words.ts';
import { listSentence } from '../../../words/list-words.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import { amountText } from './page-words.ts';

/**
 * Why a currency has exceptions, one text a cause, each amount as it enters the total difference. What a run reported as
 * paid and its list shows as failed comes first, then each line of the statement that is not empty.
 */
function exceptionTexts(currency: string, lines: CurrencyLines, overturned: bigint): string[] {
  const signed = new Map<string, Figure>(
    differenceOf(lines).reasons.map(({ line, figure }) => [line, figure]),
  );
  const causes = exceptionLines.flatMap((line) => {
    const { count } = lineOf(lines, line);
    if (count === 0n) return [];
    const { amount } = signed.get(line) ?? lineOf(lines, line);
    const money = amount === '' ? '' : `, ${amountText(currency, amount)}`;
    return [`${lineWords[line]}: ${grouped(`${count}`)}${money}`];
  });
  const paid = overturned > 0n ? [`${overturnedWords}: ${grouped(`${overturned}`)}`] : [];
  return paid.length + causes.length > 0 ? [...paid, ...causes] : ['The books do not add up'];
}

const reasonText = ({ line, figure }: DifferenceReason): string =>
  `${lineWords[line]} ${grouped(`${figure.count}`)}`;

/** What a verdict on a currency means, from the rows of its statement: what differs, with counts and amounts. Lines of plain text. */
export function verdictLines(
  { currency, verdict, overturned }: RunVerdict,
  { statement, list }: { statement: readonly NamedCells[]; list: ListStanding | null },
): string[] {
  const lines = linesByCurrency(statement).get(currency) ?? {};
  const { amount: far, reasons } = differenceOf(lines);
  const difference = `${differenceWords}: ${amountText(currency, far)}, listed less net paid.`;
  if (agrees(verdict)) {
    const { count, amount } = lineOf(lines, 'settled');
    return [
      `${counted(count, 'payment')}, ${amountText(currency, amount)}: the list and the ledger agree.`,
      ...(/[1-9]/.test(far)
        ? [`${difference} All of it is known: ${reasons.map(reasonText).join('; ')}.`]
        : []),
    ];
  }
  if (differs(verdict))
    return [difference, ...exceptionTexts(currency, lines, overturned), 'Do not sign off.'];
  return [...(isCompared(verdict) ? [] : [listSentence(list)]), verdictWords[verdict].sentence];
}
