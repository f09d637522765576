import { hasComeToNothing, type PayoutState } from '../core/domain/payout.ts';
import type { Attempt, Payout } from '../core/storage/tables/tables.ts';
import { adviceOnHeld } from '../watching/evidence/withheld.ts';
import { reasonText } from './advice-text.ts';

/** Plain words for `no answer: CAUSE`: the request was sent and its answer did not come. Only CAUSE is technical. */
const noAnswer: readonly [RegExp, string][] = [
  [/time[d ]?-?out|aborted due to/i, 'no answer came in time'],
  [/^/, 'the connection broke before an answer came'],
];

const causes: readonly [RegExp, string][] = [
  [/^HTTP \d+ without the service's envelope/, 'something other than the service answered, or an error page'],
  [/^the answer contradicts itself/, 'the answer says both yes and no'],
  [/^success (with|without) /, 'the answer says yes, but not as the service says it'],
  [/\b(ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|UND_ERR_)/, 'the service could not be reached'],
];

/** Puts plain words before a technical cause, and the cause in brackets. Returns a plain message unchanged. */
export function plainCause(message: string): string {
  const cause = /^no answer: (.*)$/s.exec(message)?.[1];
  const [, words] =
    (cause === undefined ? causes : noAnswer).find(([sign]) => sign.test(cause ?? message)) ?? [];
  return words === undefined ? message : `${words} (${cause ?? message})`;
}

type Told = Pick<Payout, 'state' | 'message' | 'reference' | 'batch_id' | 'submitted_at' | 'withheld_by'>;

/** The message of a payout; of a held one with the way out. */
export function messageText(payout: Told): string {
  const why = payout.message ?? '';
  return payout.state === 'held' && why !== '' ? reasonText({ why, advice: adviceOnHeld(payout) }) : why;
}

/**
 * The same in plain words; empty when there is none to expect. On a finished payout, the message of an attempt
 * (`Transfer initiated`) is old news, so it is labelled as the first or last answer.
 */
export function newsOf(payout: Told, attempts: readonly Attempt[]): string {
  const { state } = payout;
  const message = messageText(payout);
  const ended = state === 'success' || state === 'failed' || state === 'returned';
  const answered = attempts.find((attempt) => attempt.message === message);
  if (ended && answered) return `${answered.number === 1n ? 'first' : 'last'} answer: ${plainCause(message)}`;
  return saidOf(state, message);
}

/** What the service said of a payout, in plain words; where it came to nothing, also that no reason was given. */
export function saidOf(state: PayoutState, message: string): string {
  return message === '' && hasComeToNothing(state) ? 'the service gave no reason' : plainCause(message);
}
