/** The lines of P30 in the order of statement.csv; `unreadable`, which has no amount, stands there only when it counts any. */
export const statementLines = [
  'opening',
  'submitted',
  'reopened',
  'settled',
  'failed',
  'refused',
  'closing',
  'in_flight',
  'unknown',
  'returned',
  'net_paid',
  'fees',
  'listed_by_service',
  'unseen',
  'foreign',
  'amount_differences',
  'timing',
  'unexplained',
  'unreadable',
] as const;

export type Line = (typeof statementLines)[number];

/** Lines whose every row stands in statement-rows.csv; the big ones are read from payouts.csv, the rest are sums. */
export const linesWithRows: readonly Line[] = [
  'opening',
  'reopened',
  'failed',
  'refused',
  'in_flight',
  'unknown',
  'returned',
  'unseen',
  'foreign',
  'amount_differences',
  'timing',
  'unexplained',
  'unreadable',
];
