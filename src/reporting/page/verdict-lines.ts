import { counted } from '../../domain/counted.ts';
import type { ListStanding } from '../../domain/verdict.ts';
import type { RunVerdict } from '../run-verdicts.sql.ts';
import type { NamedCells } from '../sheet.ts';
import { amountText } from './page-words.ts';
import { lineOf, linesByCurrency } from './statement-figures.ts';
import { exceptionTexts, listWords } from './verdict-words.ts';

/** What a verdict on a currency means, from the rows of its statement: what differs, with counts and amounts. Lines of plain text. */
export function verdictLines(
  { currency, verdict, overturned }: RunVerdict,
  { statement, list }: { statement: readonly NamedCells[]; list: ListStanding | null },
): string[] {
  const lines = linesByCurrency(statement).get(currency) ?? {};
  if (verdict === 'not_compared')
    return [
      `${listWords[list ?? 'unread']}.`,
      'Paid amounts rest on earlier evidence only. Do not sign off.',
    ];
  if (verdict === 'reconciled') {
    const { count, amount } = lineOf(lines, 'settled');
    return [`${counted(count, 'payment')}, ${amountText(currency, amount)}: all is explained.`];
  }
  return [...exceptionTexts(currency, (line) => lineOf(lines, line), overturned), 'Do not sign off.'];
}
