import { expect, it } from 'vitest';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { logSent } from '../../src/daemon/daemon-log.ts';

it('says that only those payouts were sent that did not go back to ready', () => {
  const lines: string[] = [];
  const log = createLogger({ to: { write: (line: string) => void lines.push(line) } });
  logSent({ log }, { accepted: 100, refused: 2, not_sent: 16, turned_away: 1, unknown: 1 });
  expect(lines.join('')).toContain('sent 103 payouts: ');
});
