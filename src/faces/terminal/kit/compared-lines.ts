import type { PayeeComparison } from '../../../core/ledger/payee-comparisons.ts';
import { comparedText, payeeChangeText } from '../../../sending/payee-facts.ts';

/** So many changes are printed without --verbose. */
const most = 20;

/** How a file or batch differs from the last of its series: the counts, then a line for each change. */
export function comparedLines(found: PayeeComparison | null, { verbose }: { verbose: boolean }): string[] {
  if (!found) return [];
  const shown = verbose ? found.changes : found.changes.slice(0, most);
  const { accountChanged, nameChanged, amountChanged, newPayees } = found;
  const rest = accountChanged + nameChanged + amountChanged + newPayees - shown.length;
  return [
    `  ${comparedText(found)}`,
    ...shown.map((one) => `    ${payeeChangeText(one)}`),
    ...(rest > 0 ? [`    and ${rest} more changes`] : []),
  ];
}
