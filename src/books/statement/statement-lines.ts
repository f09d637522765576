/** The lines of P30 in the order of statement.csv. */
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
  'duplicates',
  'status_conflicts',
  'collisions',
  'returns',
  'paid_elsewhere',
  'open_conflicts',
  'unreadable',
] as const;

export type StatementLine = (typeof statementLines)[number];

/** Lines that stand in statement.csv only when they count any. */
export const rareLines: ReadonlySet<StatementLine> = new Set<StatementLine>([
  'duplicates',
  'status_conflicts',
  'collisions',
  'returns',
  'paid_elsewhere',
  'open_conflicts',
  'unreadable',
]);

/** Lines that only count: an unreadable amount is not zero, and a conflict without a sum has none. */
export const countsOnly: ReadonlySet<StatementLine> = new Set<StatementLine>([
  'open_conflicts',
  'unreadable',
]);

/** Why the list does not come to what the ledger sent and did not lose: each is added, as it is signed. */
export const causeLines = [
  'foreign',
  'amount_differences',
  'timing',
  'duplicates',
  'status_conflicts',
  'collisions',
  'returns',
  'paid_elsewhere',
  'unexplained',
] as const satisfies readonly StatementLine[];

const linesWithoutRows: readonly StatementLine[] = [
  'submitted',
  'settled',
  'closing',
  'net_paid',
  'fees',
  'listed_by_service',
];
/** Lines whose every row stands in statement-rows.csv; the big ones are read from payouts.csv, the rest are sums. */
export const linesWithRows = statementLines.filter((line) => !linesWithoutRows.includes(line));
