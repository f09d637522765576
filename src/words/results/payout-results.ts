import { counted } from '../../core/domain/counted.ts';
import { plainTrouble } from '../../core/domain/run-error.ts';
import type { CancelOutcome } from '../../verbs/cancel.ts';
import type { ResendOutcome } from '../../verbs/resend.ts';
import { reasonText } from '../advice-text.ts';
import { stateWords } from '../state-words.ts';
import type { ResultWords } from './result-words.ts';

/** What a cancellation did, for the person who ordered it on a page. */
export function cancelWords(done: CancelOutcome): ResultWords {
  const { cancelled, withdrawn, listed, why } = done.done;
  const lines = [
    ...(withdrawn > 0
      ? [
          `${counted(withdrawn, 'retry', 'retries')} taken back: unknown again, since an earlier attempt may have been taken.`,
        ]
      : []),
    ...(listed > 0 && why !== null
      ? [`${counted(listed, 'payout')} not cancelled: ${reasonText(why)}.`]
      : []),
  ];
  if (done.kind === 'batch')
    return { title: `${done.batch}: ${counted(cancelled, 'payout')} cancelled`, lines };
  if (cancelled > 0) return { title: `${done.reference} is cancelled`, lines };
  const only = `It is ${stateWords[done.state]}: only what was never sent can be cancelled.`;
  return { title: `${done.reference} is not cancelled`, lines: withdrawn > 0 ? lines : [only], undone: true };
}

/** What the service said to a request for a webhook. */
export function resendWords({ asked }: ResendOutcome): ResultWords {
  const [one] = asked;
  const name = one?.reference ?? '';
  if (!one?.answer)
    return {
      title: `${name} waits to be asked about`,
      lines: ['The limit of requests delays it; it stays on the list.'],
    };
  if (one.answer.outcome === 'asked')
    return { title: `The webhook of ${name} was asked for again`, lines: [] };
  const { outcome, message } = one.answer;
  return outcome === 'refused'
    ? { title: 'The service refused it', lines: [message], undone: true }
    : { title: 'The request failed', lines: [plainTrouble(message)], undone: true };
}
