import type { Problem } from '../core/domain/problem.ts';
import type { Header } from './header.ts';

const totalWord = /^(grand |sub-?)?totals?( amount| payable)?\s*:?$/i;

/** Whether a row is the sum below a list: it says so, and has no account number. A row with one is a payee. */
export function isTotalRow(cells: readonly string[], { at, columns }: Header): boolean {
  if (!cells.some((cell) => totalWord.test(cell.trim()))) return false;
  // In a row of other cells than the header's, nobody knows which one is the account.
  if (cells.length !== columns.length || at.account_number === undefined) return true;
  const account = cells[at.account_number]?.trim() ?? '';
  return account === '' || totalWord.test(account);
}

/** The problem of such a row, in place of those of its cells. */
export function totalRow(row: number): Problem {
  return {
    row,
    column: '',
    value: '',
    problem: 'is a TOTAL row and no payout',
    fix: 'delete it; to have the total checked, give it with --total or in NAME.csv.control.json',
  };
}
