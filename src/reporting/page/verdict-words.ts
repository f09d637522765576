import { grouped } from '../../domain/counted.ts';
import type { ListStanding, Verdict } from '../../domain/verdict.ts';

/** How far a run's list can be used, as the start of a sentence. */
export const listWords: Record<ListStanding, string> = {
  complete: 'The service’s list was proven complete',
  window: 'The service’s list was read back to the edge of the window',
  shows_none: 'The service’s list shows none of our payouts',
  not_ours: 'The service’s list may be another account’s',
  incomplete: 'The service’s list was not proven complete',
  unread: 'The service’s list could not be read',
};

/** Each verdict with a sign of its own shape, so that the colour only repeats it. */
export const verdictNames: Record<Verdict, { sign: string; name: string }> = {
  reconciled: { sign: '✓', name: 'reconciled' },
  exceptions: { sign: '✗', name: 'exceptions' },
  not_compared: { sign: '○', name: 'not compared' },
};

/** What a run reported as paid and its list shows as failed; it comes before every other exception. Empty for none. */
export function overturnedTexts(overturned: bigint): string[] {
  return overturned > 0n ? [`Reported as paid, failed on the list: ${grouped(`${overturned}`)}`] : [];
}
