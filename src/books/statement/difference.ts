import {
  type CurrencyLines,
  type Figure,
  isZero,
  lineOf,
  minus,
  negated,
  paidAndReopened,
} from './statement-figures.ts';
import { causeLines, type StatementLine } from './statement-lines.ts';

/** One of the reasons why the list does not come to net paid, as a reader adds it up. */
export type DifferenceReason = { line: StatementLine; figure: Figure };

/**
 * Listed less net paid, and what that is made of, to the last minor unit: what is under way or came back, what earlier
 * periods began, and every difference of the statement. Reasons of nothing are left out.
 */
export function differenceOf(lines: CurrencyLines): { amount: string; reasons: DifferenceReason[] } {
  const part = (line: StatementLine): DifferenceReason => ({ line, figure: lineOf(lines, line) });
  const less = (line: StatementLine): DifferenceReason => ({ line, figure: negated(lineOf(lines, line)) });
  const all: DifferenceReason[] = [
    part('in_flight'),
    part('unknown'),
    less('opening'),
    { line: 'reopened', figure: negated(reopenedUnpaid(lines)) },
    part('returned'),
    less('unseen'),
    ...causeLines.map(part),
  ];
  const [listed, paid] = [lineOf(lines, 'listed_by_service'), lineOf(lines, 'net_paid')];
  return { amount: minus(listed.amount, paid.amount), reasons: all.filter(({ figure }) => !isZero(figure)) };
}

/** Reopened after it had failed or was refused. What had been settled is off net paid, as it is off the list's side. */
function reopenedUnpaid(lines: CurrencyLines): Figure {
  const [reopened, unpaid] = [lineOf(lines, 'reopened'), negated(paidAndReopened(lines))];
  return { count: reopened.count - unpaid.count, amount: minus(reopened.amount, unpaid.amount) };
}
