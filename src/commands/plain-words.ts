import type { Attempt, Payout } from '../storage/tables/tables.ts';

/** What went wrong with a POST whose bytes left: `no answer: CAUSE`, where only the cause is technical. */
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

/** A technical cause with plain words before it and itself in brackets; what is plain already stays as it is. */
export function plainCause(message: string): string {
  const cause = /^no answer: (.*)$/s.exec(message)?.[1];
  const [, words] =
    (cause === undefined ? causes : noAnswer).find(([sign]) => sign.test(cause ?? message)) ?? [];
  return words === undefined ? message : `${words} (${cause ?? message})`;
}

/**
 * The message of a payout for people. What the service said when it was sent (`Transfer initiated`) is no news of one
 * that came to its end since, and is told as the first answer; empty where there is nothing to say.
 */
export function newsOf(payout: Pick<Payout, 'state' | 'message'>, attempts: readonly Attempt[]): string {
  const { state, message } = payout;
  if (message === null || message === '') return '';
  const ended = state === 'success' || state === 'failed' || state === 'returned';
  const answered = attempts.find((attempt) => attempt.message === message);
  if (ended && answered) return `${answered.number === 1n ? 'first' : 'last'} answer: ${plainCause(message)}`;
  return plainCause(message);
}
