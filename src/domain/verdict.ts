/** What a run may say about one currency (contract.md, "Verdicts"). Only `reconciled` may look green. */
export const verdicts = ['reconciled', 'exceptions', 'not_compared'] as const;
export type Verdict = (typeof verdicts)[number];

/**
 * What a run's list is worth. `complete`: all of it, and it shows ours. `window`: a short cut that holds (P29).
 * `shows_none`: complete, but without one payout that the service accepted. `not_ours`: complete, but of another
 * account. `incomplete`: not proven whole (P28). `unread`: no page came.
 */
export const listStandings = [
  'complete',
  'window',
  'shows_none',
  'not_ours',
  'incomplete',
  'unread',
] as const;
export type ListStanding = (typeof listStandings)[number];

const usable: Record<ListStanding, boolean> = {
  complete: true,
  window: true,
  shows_none: false,
  not_ours: false,
  incomplete: false,
  unread: false,
};

/** True where the ledger can be compared with the list; null is a run that did not get so far. */
export function isUsable(list: ListStanding | null): boolean {
  return list !== null && usable[list];
}

/** The statement's lines that must be empty before a currency is reconciled. */
export const exceptionLines = [
  'unseen',
  'foreign',
  'amount_differences',
  'unexplained',
  'unreadable',
] as const;
export type ExceptionLine = (typeof exceptionLines)[number];

/** How many, and how much in minor units of the currency. */
export type Sum = { count: bigint; amount: bigint };

/**
 * What the verdict on a currency follows from. `overturned`: paid here and failed on the list, a part of `unexplained`.
 * `imbalance`: what the closing line is apart from in flight and unknown.
 */
export type CurrencyFacts = Record<ExceptionLine, Sum> & { overturned: Sum; imbalance: Sum };

/** The verdict on one currency; the only place that decides it. */
export function verdictOf(list: ListStanding | null, facts: CurrencyFacts): Verdict {
  if (!isUsable(list)) return 'not_compared';
  const parts = [...exceptionLines, 'imbalance' as const].map((line) => facts[line]);
  return parts.every(({ count, amount }) => count === 0n && amount === 0n) ? 'reconciled' : 'exceptions';
}

const gravity: Record<Verdict, number> = { reconciled: 0, exceptions: 1, not_compared: 2 };

/** The verdict on a whole run: the worst of its currencies, and of the list where there are none. */
export function worstVerdict(list: ListStanding | null, all: readonly Verdict[]): Verdict {
  const first: Verdict = isUsable(list) ? 'reconciled' : 'not_compared';
  return all.reduce((worst, one) => (gravity[one] > gravity[worst] ? one : worst), first);
}
