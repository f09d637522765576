import type { BatchState } from './payout.ts';

export type BatchChange = 'taken' | 'held' | 'released' | 'sent' | 'done' | 'cancelled';

/** What happened to a batch between two states of it. A batch that is still being read from its file has no change yet. */
export function batchChanges(before: BatchState | undefined, now: BatchState): BatchChange[] {
  if (now === 'loading' || before === now) return [];
  const changes: BatchChange[] = before === undefined || before === 'loading' ? ['taken'] : [];
  const hasLeft = before === 'sent' || before === 'done';
  switch (now) {
    case 'held':
    case 'cancelled':
      return [...changes, now];
    case 'ready':
    case 'sending':
      return before === 'held' ? [...changes, 'released'] : changes;
    case 'sent':
      return hasLeft ? changes : [...changes, 'sent'];
    case 'done':
      return [...changes, ...(hasLeft ? [] : (['sent'] as const)), 'done'];
  }
}
