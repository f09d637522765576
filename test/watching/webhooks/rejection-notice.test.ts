import { expect, it } from 'vitest';
import { createLogger } from '../../../src/core/runtime/logger.ts';
import { createRejectionNotice } from '../../../src/watching/webhooks/receiver.ts';

it('a flood of forgeries is one line a minute in the log', () => {
  const lines: { msg: string }[] = [];
  let nowMs = 0;
  const log = createLogger({ to: { write: (line) => void lines.push(JSON.parse(line)) } });
  const clock = { monotonic: () => nowMs, now: () => nowMs, iso: () => '', sleep: async () => undefined };
  const note = createRejectionNotice({ clock, log });
  note([{ kind: 'signature_wrong', count: 2 }]);
  for (let i = 0; i < 50; i++) note([{ kind: 'signature_wrong', count: 10 }]);
  nowMs = 60_000;
  note([{ kind: 'compressed', count: 1 }]);
  expect(lines.map(({ msg }) => msg)).toEqual([
    '2 webhooks rejected: 2 signature wrong',
    '501 webhooks rejected: 500 signature wrong, 1 compressed',
  ]);
});
