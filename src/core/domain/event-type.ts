/** What programs hear (P39). */
export const eventTypes = [
  'batch.taken',
  'batch.held',
  'batch.sent',
  'batch.done',
  'batch.cancelled',
  'payout.changed',
  'discrepancy.opened',
  'discrepancy.closed',
  'run.finished',
  'halt.raised',
  'halt.lifted',
  'month.closed',
] as const;

export type EventType = (typeof eventTypes)[number];
