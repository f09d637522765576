import {
  amountFinding,
  type CellProblem,
  currencyFinding,
  type KnownColumn,
  referenceFinding,
} from './batch-rules.ts';
import { hiddenCharacter } from './hidden.ts';
import { exponentOf, parseAmount } from './money.ts';

/** The columns of a file of expected collections; any other column is kept out of it. */
export const collectionColumns = [
  'reference',
  'amount',
  'currency',
] as const satisfies readonly KnownColumn[];

/** One expected collection; `amount` in minor units of `currency`. */
export type Expectation = { reference: string; amount: bigint; currency: string };

/**
 * Checks one row of a file of expected collections against the rules of payouts for the same columns. A prefix is for
 * the references of payouts: what payers are given is made elsewhere.
 */
export function checkExpectation(
  cell: (column: (typeof collectionColumns)[number]) => string | undefined,
): { kind: 'ok'; row: Expectation } | { kind: 'bad'; problems: CellProblem[] } {
  const problems: CellProblem[] = [];
  const currency = cell('currency') ?? '';
  const rules = {
    reference: (value: string) => referenceFinding(value, { senderName: '', referencePrefix: '' }),
    currency: currencyFinding,
    // An unknown currency is complained of where it stands, not here again.
    amount: (value: string) => amountFinding(value, exponentOf(currency) === undefined ? 'NGN' : currency),
  };
  for (const column of collectionColumns) {
    const value = cell(column);
    // A column that the file lacks is the header's problem, said once.
    if (value === undefined) continue;
    if (value === '') problems.push({ column, value, problem: 'is empty', fix: `write the ${column}` });
    else if (hiddenCharacter(value, false) === null) {
      const found = rules[column](value);
      if (found) problems.push({ column, value, ...found });
    }
  }
  const amount = parseAmount(cell('amount') ?? '', currency);
  if (problems.length > 0 || amount.kind === 'problem') return { kind: 'bad', problems };
  return { kind: 'ok', row: { reference: cell('reference') ?? '', amount: amount.minor, currency } };
}
