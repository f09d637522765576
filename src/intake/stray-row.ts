import { knownColumn } from '../core/domain/batch-rules.ts';
import type { Problem } from '../core/domain/problem.ts';
import type { Header } from './header.ts';

const totalWord = /^(grand |sub-?)?totals?( amount| payable)?\s*:?$/i;

/** A row that says so and has no account number is the sum below a list. A row with one is a payee. */
function isTotalRow(cells: readonly string[], { at, columns }: Header): boolean {
  if (!cells.some((cell) => totalWord.test(cell.trim()))) return false;
  // In a row of other cells than the header's, nobody knows which one is the account.
  if (cells.length !== columns.length || at.account_number === undefined) return true;
  const account = cells[at.account_number]?.trim() ?? '';
  return account === '' || totalWord.test(account);
}

/** So many names of columns make a row the header again, as files that were joined have it. */
const fewestNames = 3;

function isHeaderAgain(cells: readonly string[]): boolean {
  return cells.filter((cell) => knownColumn(cell.trim()) !== null).length >= fewestNames;
}

/** The problem of a row that was not meant as a payout, in place of those of its cells; null for another row. Of bad rows only. */
export function strayRow(row: number, cells: readonly string[], header: Header): Problem | null {
  const at = { row, column: '', value: '' };
  if (isHeaderAgain(cells))
    return {
      ...at,
      problem: 'is the header again and no payout',
      fix: 'delete it; where files were joined, the columns below it must be those of the first line',
    };
  if (!isTotalRow(cells, header)) return null;
  return {
    ...at,
    problem: 'is a TOTAL row and no payout',
    fix: 'delete it; to have the total checked, give it with --total or in NAME.csv.control.json',
  };
}
