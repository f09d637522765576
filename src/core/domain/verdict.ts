/**
 * A run's verdict on one currency, or on the whole. Only `reconciled` may look green. `none`: no money of any currency
 * appears, so that there is nothing to state.
 */
export const verdicts = ['reconciled', 'exceptions', 'not_compared', 'none'] as const;
export type Verdict = (typeof verdicts)[number];

/**
 * How far a run's listing can be trusted.
 *
 * - `complete`: it is whole and shows payouts of ours
 * - `window`: a valid short cut (P29)
 * - `shows_none`: complete, but without any payout that the service accepted
 * - `not_ours`: complete, but of another account
 * - `incomplete`: not proven complete (P28)
 * - `unread`: no page came
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

/** True where the ledger can be compared with the listing; null: the run did not get that far. */
export function isUsable(list: ListStanding | null): boolean {
  return list !== null && usable[list];
}

/**
 * The statement's lines that must be zero before a currency is reconciled. A difference with a name is one all the same.
 * `open_conflicts`: discrepancies about where money is that no sum of the statement shows, until they are resolved.
 */
export const exceptionLines = [
  'unseen',
  'foreign',
  'amount_differences',
  'duplicates',
  'status_conflicts',
  'collisions',
  'open_conflicts',
  'unexplained',
  'unreadable',
] as const;
export type ExceptionLine = (typeof exceptionLines)[number];

/** A count, and an amount in minor units of the currency. */
export type Sum = { count: bigint; amount: bigint };

/**
 * The facts behind the verdict on a currency. `overturned`: paid here and failed on the listing, a part of
 * `status_conflicts`. `imbalance`: the closing line minus in flight and unknown.
 */
export type CurrencyFacts = Record<ExceptionLine, Sum> & { overturned: Sum; imbalance: Sum };

/** Returns the verdict on one currency; only this function decides it. Every page, file and command repeats it. */
export function verdictOf(list: ListStanding | null, facts: CurrencyFacts): Verdict {
  if (!isUsable(list)) return 'not_compared';
  const parts = [...exceptionLines, 'imbalance' as const].map((line) => facts[line]);
  return parts.every(({ count, amount }) => count === 0n && amount === 0n) ? 'reconciled' : 'exceptions';
}

/**
 * `compared`: the list could be used. `agrees`: every line that must be zero is. `differs`: one is not. Of two, the graver
 * speaks for both.
 */
type Traits = { gravity: number; compared: boolean; agrees: boolean; differs: boolean };
const traits: Record<Verdict, Traits> = {
  none: { gravity: 0, compared: true, agrees: false, differs: false },
  reconciled: { gravity: 1, compared: true, agrees: true, differs: false },
  exceptions: { gravity: 2, compared: true, agrees: false, differs: true },
  not_compared: { gravity: 3, compared: false, agrees: false, differs: false },
};

/** True where the ledger was compared with a list. */
export function isCompared(verdict: Verdict): boolean {
  return traits[verdict].compared;
}

/** True where there is money to state, and the ledger and the list agree about it. */
export function agrees(verdict: Verdict): boolean {
  return traits[verdict].agrees;
}

/** True where the ledger and the list differ, so that the lines that do are named. */
export function differs(verdict: Verdict): boolean {
  return traits[verdict].differs;
}

/** The verdict on a whole run: the worst of its currencies. Without any, `none`, if the run could look. */
export function worstVerdict(list: ListStanding | null, all: readonly Verdict[]): Verdict {
  const first: Verdict = isUsable(list) ? 'none' : 'not_compared';
  return all.reduce((worst, one) => (traits[one].gravity > traits[worst].gravity ? one : worst), first);
}

/** True where a person must look at the run: something differs, or nothing was compared. */
export function needsAPerson(verdict: Verdict): boolean {
  return differs(verdict) || !isCompared(verdict);
}
