import { type ExceptionLine, exceptionLines, type Verdict } from '../domain/verdict.ts';
import type { CurrencyJson } from '../reporting/statement/statement-json.ts';

export const verdictWords: Record<Verdict, string> = {
  reconciled: 'reconciled',
  exceptions: 'exceptions',
  not_compared: 'not compared',
};

/** The verdict on a currency with every line that is not empty; what is paid here and failed there comes first. */
export function currencyText(one: CurrencyJson): string {
  const words = verdictWords[one.verdict];
  if (one.verdict !== 'exceptions') return words;
  const first = one.overturned
    ? [`${one.overturned.count} reported as paid, failed at the service (${one.overturned.amount})`]
    : [];
  const others = exceptionLines.flatMap((line) => exceptionText(line, one));
  return `${words}: ${[...first, ...others].join('; ')}`;
}

function exceptionText(line: ExceptionLine, one: CurrencyJson): string[] {
  if (line === 'unreadable')
    return one.unreadable ? [`${one.unreadable.count} with an unreadable amount`] : [];
  const { count, amount } = one[line];
  return count === 0 ? [] : [`${count} ${line.replaceAll('_', ' ')} (${amount})`];
}
