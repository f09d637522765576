import type { ListStanding } from '../core/domain/verdict.ts';

/**
 * A list's standing as each place says it. `start`: how far the list can be used, as the start of a sentence. `cell`: the
 * same in a table, where it differs. `brief`: in one line of the terminal. `unlisted`: why it does not show a payout, as
 * the rows of the statement keep it (P30).
 */
type Words = { start: string; cell?: string; brief: string; unlisted: string };

/** The only table of standings. */
export const listWords: Record<ListStanding, Words> = {
  complete: {
    start: 'The service’s list was proven complete',
    cell: 'complete',
    brief: 'list complete',
    unlisted: '; the list is complete',
  },
  window: {
    start: 'The service’s list was read back to the edge of the window',
    cell: 'to the edge of the window',
    brief: 'list complete inside the window',
    unlisted: '; the list is complete since the edge of its window',
  },
  shows_none: {
    start: 'The service’s list shows none of our payouts',
    brief: 'list complete, but it shows none of our payouts',
    unlisted: ', nor anything else of ours: it may be another account’s',
  },
  not_ours: {
    start: 'The service’s list may be another account’s',
    brief: 'list complete, but perhaps another account’s',
    unlisted: ': it is another account’s',
  },
  incomplete: {
    start: 'The service’s list was not proven complete',
    brief: 'list NOT proven complete',
    unlisted: '; the list is not proven complete',
  },
  unread: {
    start: 'The service’s list could not be read',
    brief: 'not compared',
    unlisted: ': no page of it came',
  },
};

/** How far a run's list can be used, as the start of a sentence; null: the run read none. */
export function listStart(list: ListStanding | null): string {
  return listWords[list ?? 'unread'].start;
}

/** The same as a whole sentence. */
export function listSentence(list: ListStanding | null): string {
  return `${listStart(list)}.`;
}
