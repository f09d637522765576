import { formatMinor } from '../domain/money.ts';
import { type Problem, wholeFile } from '../domain/problem.ts';
import { takenTotals } from '../ledger/capacity.ts';
import type { Ledger } from '../storage/ledger.ts';
import type { Sums } from './scan.ts';

/**
 * Half of what 64 bits hold. The ledger adds up the payouts of a currency in its queries: a sum beyond would make each
 * of them fail for ever, and successors of a retry need room too.
 */
const mostTogether = 2n ** 62n;

/** Why the ledger cannot hold this file beside what it holds; amounts like these are mistakes. */
export async function capacityProblems({ totals }: Sums, { ledger }: { ledger: Ledger }): Promise<Problem[]> {
  // Far from the edge no question is needed.
  if ([...totals.values()].every((sum) => sum < mostTogether / 1_000_000n)) return [];
  const taken = await takenTotals(ledger.db);
  return [...totals].flatMap(([currency, sum]) => {
    const before = taken.get(currency) ?? 0n;
    if (before + sum <= mostTogether) return [];
    const problem = `holds ${currency} ${formatMinor(sum, currency)}; with ${formatMinor(before, currency)} taken before that is more than a ledger adds up (${formatMinor(mostTogether, currency)})`;
    return [wholeFile(problem, 'check the amounts: some have too many digits')];
  });
}
