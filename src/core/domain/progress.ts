import { type PayoutState, payoutStates } from './payout.ts';

/** A batch's progress for people: `45 sent, 255 waiting`. Unknown payouts do not count as sent. */
export function progressText(counts: Partial<Record<PayoutState, number>>): string {
  const n = (state: PayoutState): number => counts[state] ?? 0;
  const total = payoutStates.reduce((sum, state) => sum + n(state), 0);
  const others = { held: n('held'), unknown: n('unknown'), cancelled: n('cancelled') };
  const waiting = n('ready');
  const sent = total - waiting - others.held - others.unknown - others.cancelled;
  const more = Object.entries(others).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []));
  return [`${sent} sent`, `${waiting} waiting`, ...more].join(', ');
}
