import { expect, it } from 'vitest';
import { createLogger } from '../../../src/core/runtime/logger.ts';
import { plainLine } from '../../../src/core/runtime/plain-log.ts';

const lines: string[] = [];
const log = createLogger({
  to: { write: (line) => void lines.push(line) },
  redact: (line) => line.replaceAll('sk_test_1', '[hidden]'),
  render: (line) => plainLine(line, () => '22 Nov 16:00:05'),
});

it('a line for people has the time, how bad it is, what happened and why', () => {
  lines.length = 0;
  log.info({ batch: 'b-1' }, 'b-1 taken in: 2 payouts');
  log.warn(
    { job: 'reconcile', result: 'incomplete', why: 'no list\nfor sk_test_1' },
    'job did not do its work',
  );
  log.error({ err: new Error('disk full'), job: 'report' }, 'job failed');
  expect(lines).toEqual([
    '22 Nov 16:00:05  b-1 taken in: 2 payouts\n',
    '22 Nov 16:00:05  warning: job did not do its work: reconcile: no list for [hidden]\n',
    '22 Nov 16:00:05  error: job failed: report: disk full\n',
  ]);
});

it('what is no line of the log stays as it is', () => {
  expect(plainLine('not JSON\n', () => '')).toBe('not JSON\n');
});
