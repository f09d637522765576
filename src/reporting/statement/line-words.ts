import type { Line } from './statement-lines.ts';

/** The statement's lines as finance names them. */
export const lineWords: Record<Line, string> = {
  opening: 'Opening, in flight',
  submitted: 'Submitted',
  reopened: 'Reopened',
  settled: 'Paid',
  failed: 'Failed',
  refused: 'Refused by the service',
  closing: 'Closing, in flight or unknown',
  in_flight: 'In flight',
  unknown: 'Unknown: may be paid',
  returned: 'Paid and came back',
  net_paid: 'Net paid',
  fees: 'Fees reported',
  listed_by_service: 'Listed by the service',
  unseen: 'Sent, not on the service’s list',
  foreign: 'On the list, not ordered here',
  amount_differences: 'Listed with another amount',
  timing: 'Timing: known to one side later',
  unexplained: 'Unexplained',
  unreadable: 'Listed with an unreadable amount',
};
