import { formatMinor } from '../core/domain/money.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { takenTotals } from '../core/ledger/capacity.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import type { Sums } from './scan.ts';

/**
 * The largest sum of one currency in a ledger: half of what 64 bits hold. The ledger's queries add up payouts
 * in 64 bits, and a larger sum would fail them for ever. The other half is room for successors of retries.
 */
const mostTogether = 2n ** 62n;

/** Returns why the ledger cannot hold this file beside its other payouts. Amounts like these are mistakes. */
export async function capacityProblems({ totals }: Sums, { ledger }: { ledger: Ledger }): Promise<Problem[]> {
  // Sums far below the limit need no query.
  if ([...totals.values()].every((sum) => sum < mostTogether / 1_000_000n)) return [];
  const taken = await takenTotals(ledger.db);
  return [...totals].flatMap(([currency, sum]) => {
    const before = taken.get(currency) ?? 0n;
    if (before + sum <= mostTogether) return [];
    const problem = `holds ${currency} ${formatMinor(sum, currency)}; with ${formatMinor(before, currency)} taken before that is more than a ledger adds up (${formatMinor(mostTogether, currency)})`;
    return [wholeFile(problem, 'check the amounts: some have too many digits')];
  });
}
