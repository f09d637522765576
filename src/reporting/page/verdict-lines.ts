import { counted, grouped } from '../../domain/counted.ts';
import { exceptionLines, type ListStanding } from '../../domain/verdict.ts';
import type { RunVerdict } from '../run-verdicts.sql.ts';
import type { NamedCells } from '../sheet.ts';
import { lineWords } from '../statement/line-words.ts';
import { amountText } from './page-words.ts';
import { listWords, overturnedTexts } from './verdict-words.ts';

/** What a verdict on a currency means, from the rows of its statement: what differs, with counts and amounts. Lines of plain text. */
export function verdictLines(
  { currency, verdict, overturned }: RunVerdict,
  { statement, list }: { statement: readonly NamedCells[]; list: ListStanding | null },
): string[] {
  const rows = statement.filter((row) => row.currency === currency);
  const of = (line: string): NamedCells | undefined => rows.find((row) => row.line === line);
  if (verdict === 'not_compared')
    return [
      `${listWords[list ?? 'unread']}.`,
      'Paid amounts rest on earlier evidence only. Do not sign off.',
    ];
  if (verdict === 'reconciled') {
    const { count = '0', amount = '0' } = of('settled') ?? {};
    return [`${counted(BigInt(count), 'payment')}, ${amountText(currency, amount)}: all is explained.`];
  }
  const others = exceptionLines.flatMap((line) => {
    const { count = '0', amount = '' } = of(line) ?? {};
    if (count === '0') return [];
    const money = amount === '' ? '' : `, ${amountText(currency, amount)}`;
    return [`${lineWords[line]}: ${grouped(count)}${money}`];
  });
  const parts = [...overturnedTexts(overturned), ...others];
  return [...(parts.length > 0 ? parts : ['The books do not add up']), 'Do not sign off.'];
}
