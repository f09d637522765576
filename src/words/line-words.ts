import type { StatementLine } from '../books/statement/statement-lines.ts';

/** The statement's lines as finance names them, on every page and sheet. */
export const lineWords: Record<StatementLine, string> = {
  opening: 'Opening',
  submitted: 'Submitted',
  reopened: 'Reopened',
  settled: 'Paid',
  failed: 'Failed',
  refused: 'Refused',
  closing: 'Closing',
  in_flight: 'In flight',
  unknown: 'Unknown: may be paid',
  returned: 'Returned',
  net_paid: 'Net paid',
  fees: 'Fees reported',
  listed_by_service: 'Listed by the service',
  unseen: 'Not on the list',
  foreign: 'Not ordered here',
  amount_differences: 'Amount differences',
  timing: 'Timing',
  unexplained: 'Unexplained',
  duplicates: 'Listed more than once',
  status_conflicts: 'Status conflicts',
  collisions: 'Reference collisions',
  returns: 'Returned, failed on the list',
  paid_elsewhere: 'Paid by other means',
  open_conflicts: 'Conflicts beside the sums',
  unreadable: 'Unreadable amounts',
};

/** What the service lists less net paid: no line of the statement, since it follows from them. */
export const differenceWords = 'Listed less net paid';

/** What ties the paid rows of a month to its net paid: no line of the statement. */
export const paidEarlierWords = 'Paid earlier, undone now';

/** What a run reported as paid and its list shows as failed: no line of the statement, and graver than any. */
export const overturnedWords = 'Reported as paid, failed on the list';

/** One of the reasons why the list does not come to net paid. Of what was reopened, only what was not paid before is one. */
export function differenceName(line: StatementLine): string {
  return line === 'reopened' ? 'Reopened, not paid before' : lineWords[line];
}

/** A line by its name in statement.csv, as the terminal counts it: `2 status conflicts`, `1 status conflict`. */
export function lineNoun(line: string, count?: number): string {
  if (line === 'unreadable' && count !== undefined) return 'with an unreadable amount';
  const name = line.replaceAll('_', ' ');
  return count === 1 ? name.replace(/s$/, '') : name;
}
