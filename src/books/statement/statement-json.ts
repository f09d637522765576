import { isCompared } from '../../core/domain/verdict.ts';
import type { CurrencyJson } from '../../core/shapes/run-shapes.ts';
import { money } from '../presentation.ts';
import { differenceOf } from './difference.ts';
import type { CurrencyVerdict } from './statement.ts';
import { statementLines } from './statement-lines.ts';

type Difference = CurrencyJson['unseen'];

/** The statement as `reconcile --json` and summary.json show it, by currency. */
export function statementJson(currencies: readonly CurrencyVerdict[]): Record<string, CurrencyJson> {
  return Object.fromEntries(currencies.map((one) => [one.currency, currencyJson(one)]));
}

function currencyJson({ currency, verdict, facts }: CurrencyVerdict): CurrencyJson {
  const shown = ({ count, amount }: { count: bigint; amount: bigint }): Difference => {
    return { count: Number(count), amount: money(amount, currency) };
  };
  const { unreadable, open_conflicts: conflicts, overturned } = facts;
  const rare = (
    ['duplicates', 'status_conflicts', 'collisions', 'returns', 'paid_elsewhere'] as const
  ).flatMap((line) => (facts[line].count === 0n ? [] : [[line, shown(facts[line])] as const]));
  return {
    verdict,
    unseen: shown(facts.unseen),
    foreign: shown(facts.foreign),
    amount_differences: shown(facts.amount_differences),
    unexplained: shown(facts.unexplained),
    ...Object.fromEntries(rare),
    ...(conflicts.count > 0n && { open_conflicts: { count: Number(conflicts.count) } }),
    ...(unreadable.count > 0n && { unreadable: { count: Number(unreadable.count) } }),
    ...(overturned.count > 0n && { overturned: shown(overturned) }),
    ...(isCompared(verdict) && differenceJson(currency, facts)),
  };
}

function differenceJson(currency: string, facts: CurrencyVerdict['facts']): Pick<CurrencyJson, 'difference'> {
  const figures = statementLines.map((line) => {
    const { count, amount } = facts[line];
    return [line, { count, amount: money(amount, currency) }] as const;
  });
  const { amount, reasons } = differenceOf(Object.fromEntries(figures));
  if (reasons.length === 0) return {};
  const made = reasons.map(({ line, figure }) => [
    line,
    { count: Number(figure.count), amount: figure.amount },
  ]);
  const [listed, paid] = [facts.listed_by_service, facts.net_paid].map((one) => money(one.amount, currency));
  return {
    difference: { amount, listed: listed ?? '', net_paid: paid ?? '', made_of: Object.fromEntries(made) },
  };
}
