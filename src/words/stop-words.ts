import type { StopCause } from '../sending/progress.ts';
import { reasonText } from './advice-text.ts';

/** Why sending stopped; empty where nothing was left. */
export function stopText(stop: StopCause): string {
  switch (stop.ended) {
    case 'drained':
      return '';
    case 'interrupted':
      return 'interrupted; nothing is lost';
    case 'halted':
      return `halted: ${stop.by.join(', ')}`;
    case 'unreachable':
      return `${stop.tries} requests in a row could not be sent`;
    case 'stuck':
      return `${stuckText(stop.by)}${stop.holders ? `: ${stop.holders}` : ''}`;
  }
}

function stuckText(by: Extract<StopCause, { ended: 'stuck' }>['by']): string {
  switch (by.kind) {
    case 'aged':
      return `${by.times} times in a row an intent grew older than submission.send_deadline_ms before it could be sent: this machine, its clock or its disk stands still`;
    case 'no_progress':
      return `no progress for ${by.seconds} seconds`;
    case 'unanswered': {
      const names = [...by.names, ...(by.count > by.names.length ? ['…'] : [])].join(', ');
      return `a payout that was sent before, or pays another again, needs a clear answer of the service first: ${by.count} of ${by.of} got none (${names})`;
    }
  }
}

/** The same, with what helps. */
export function stopReason(stop: StopCause): string {
  return reasonText({ why: stopText(stop), advice: (stop.ended === 'stuck' && stop.advice) || null });
}
