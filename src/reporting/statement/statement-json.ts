import type { Verdict } from '../../domain/verdict.ts';
import { money } from '../presentation.ts';
import type { CurrencyVerdict } from './statement.ts';

type Difference = { count: number; amount: string };

/** What `reconcile --json` says about a currency; the last two fields only when they apply. */
export type CurrencyJson = {
  verdict: Verdict;
  unseen: Difference;
  foreign: Difference;
  amount_differences: Difference;
  unexplained: Difference;
  /** Listed with an amount that cannot be read. */
  unreadable?: { count: number };
  /** Of `unexplained`: paid here, and failed on the list. */
  overturned?: Difference;
};

/** The statement as `reconcile --json` and summary.json show it, by currency. */
export function statementJson(currencies: readonly CurrencyVerdict[]): Record<string, CurrencyJson> {
  return Object.fromEntries(currencies.map((one) => [one.currency, currencyJson(one)]));
}

function currencyJson({ currency, verdict, facts }: CurrencyVerdict): CurrencyJson {
  const shown = ({ count, amount }: { count: bigint; amount: bigint }): Difference => {
    return { count: Number(count), amount: money(amount, currency) };
  };
  const { unreadable, overturned } = facts;
  return {
    verdict,
    unseen: shown(facts.unseen),
    foreign: shown(facts.foreign),
    amount_differences: shown(facts.amount_differences),
    unexplained: shown(facts.unexplained),
    ...(unreadable.count > 0n && { unreadable: { count: Number(unreadable.count) } }),
    ...(overturned.count > 0n && { overturned: shown(overturned) }),
  };
}
