import { expect, it } from 'vitest';
import type { StopCause } from '../../src/sending/progress.ts';
import { stopReason, stopText } from '../../src/words/stop-words.ts';

const holders = "session 7 (postgres, ada's psql) has a transaction open";

it.each<[StopCause, string]>([
  [{ ended: 'drained' }, ''],
  [{ ended: 'interrupted' }, 'interrupted; nothing is lost'],
  [{ ended: 'halted', by: ['person', 'unknowns'] }, 'halted: person, unknowns'],
  [{ ended: 'unreachable', tries: 3 }, '3 requests in a row could not be sent'],
  [{ ended: 'stuck', by: { kind: 'no_progress', seconds: 60 } }, 'no progress for 60 seconds'],
  [
    { ended: 'stuck', by: { kind: 'no_progress', seconds: 60 }, holders },
    `no progress for 60 seconds: ${holders}`,
  ],
  [
    { ended: 'stuck', by: { kind: 'aged', times: 3 } },
    '3 times in a row an intent grew older than submission.send_deadline_ms before it could be sent: this machine, its clock or its disk stands still',
  ],
  [
    { ended: 'stuck', by: { kind: 'unanswered', count: 4, of: 5, names: ['R-1', 'R-2', 'R-3'] } },
    'a payout that was sent before, or pays another again, needs a clear answer of the service first: 4 of 5 got none (R-1, R-2, R-3, …)',
  ],
])('says why sending stopped: %j', (stop, text) => {
  expect(stopText(stop)).toBe(text);
  expect(stopReason(stop)).toBe(text);
});

it('adds what helps, where a person can end it', () => {
  const by = { kind: 'no_progress' as const, seconds: 60 };
  const stop: StopCause = { ended: 'stuck', by, advice: { kind: 'doctor' } };
  expect(stopReason(stop)).toBe(`${stopText(stop)}; counterfoil doctor looks for the cause`);
});
