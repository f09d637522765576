import { type CellProblem, currencyFinding, type KnownColumn, referenceFinding } from './batch-rules.ts';
import { hiddenCharacter } from './hidden.ts';
import { exponentOf, parseAmount } from './money.ts';
import { amountFinding } from './written-amount.ts';

/** The columns of a file of expected collections; others are not stored. */
export const collectionColumns = [
  'reference',
  'amount',
  'currency',
] as const satisfies readonly KnownColumn[];

/** One expected collection; `amount` in minor units of `currency`. */
export type Expectation = { reference: string; amount: bigint; currency: string };

/**
 * Checks one row of a file of expected collections with the payout rules for the same columns. The prefix is not
 * required: it is for payouts, and payers get their references elsewhere.
 */
export function checkExpectation(
  cell: (column: (typeof collectionColumns)[number]) => string | undefined,
): { kind: 'ok'; row: Expectation } | { kind: 'bad'; problems: CellProblem[] } {
  const problems: CellProblem[] = [];
  const currency = cell('currency') ?? '';
  const rules = {
    reference: (value: string) => referenceFinding(value, { referencePrefix: '' }),
    currency: currencyFinding,
    // An unknown currency is reported in its own column, not here again.
    amount: (value: string) => amountFinding(value, exponentOf(currency) === undefined ? 'NGN' : currency),
  };
  for (const column of collectionColumns) {
    const value = cell(column);
    // A missing column is a problem of the header, reported once.
    if (value === undefined) continue;
    if (value === '') problems.push({ column, value, problem: 'is empty', fix: `write the ${column}` });
    else if (hiddenCharacter(value) === null) {
      const finding = rules[column](value);
      if (finding) problems.push({ column, value, ...finding });
    }
  }
  const amount = parseAmount(cell('amount') ?? '', currency);
  if (problems.length > 0 || amount.kind === 'problem') return { kind: 'bad', problems };
  return { kind: 'ok', row: { reference: cell('reference') ?? '', amount: amount.minor, currency } };
}
