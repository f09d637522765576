import type { StatementLine } from '../books/statement/statement-lines.ts';

/** The only table of the statement's lines: how finance names them on every page, sheet and screen. */
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

/** Whether a text names a line, as files and JSON do. */
export function isStatementLine(name: string): name is StatementLine {
  return Object.hasOwn(lineWords, name);
}

/** What the service lists less net paid: no line of the statement, since it follows from them. */
export const differenceWords = 'Total difference';

/** The fees of what was paid in a month, whenever they were reported: the line `fees` has what became known in it. */
export const paidFeesWords = 'Fees of these payments';
export const paidFeesNote =
  'Fees are rounded here only, so that parts may add up to a little more or less. The fee of a payment that failed or came back is not among them.';

/** What ties the paid rows of a month to its net paid: no line of the statement. */
export const paidEarlierWords = 'Paid earlier, undone now';

/** What a run reported as paid and its list shows as failed: no line of the statement, and graver than any. */
export const overturnedWords = 'Reported as paid, failed on the list';

/** One of the reasons why the list does not come to net paid. Of what was reopened, only what was not paid before is one. */
export function differenceName(line: StatementLine): string {
  return line === 'reopened' ? 'Reopened, not paid before' : lineWords[line];
}
