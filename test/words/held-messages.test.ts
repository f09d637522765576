import { expect, it } from 'vitest';
import type { WithheldBy } from '../../src/core/domain/payout.ts';
import { messageText } from '../../src/words/plain-words.ts';

const why = 'sending it could pay twice';
const payout = { message: why, reference: 'A', batch_id: 'b-1', submitted_at: null };

it.each<[WithheldBy | null, string]>([
  ['list', 'counterfoil settle A --as paid|not-paid --note'],
  ['details', 'counterfoil settle A --as paid|not-paid --note'],
  ['webhook', 'counterfoil retry A asks the service'],
  ['predecessor', 'counterfoil cancel A'],
  ['limit', 'counterfoil cancel A'],
  ['answer', 'counterfoil release b-1'],
  [null, 'counterfoil release b-1'],
])('P32: what is held by %s names the command that ends it', (by, command) => {
  const said = messageText({ ...payout, state: 'held', withheld_by: by });
  expect(said.startsWith(`${why}; `)).toBe(true);
  expect(said).toContain(command);
});

it('leaves the messages of other payouts as they are stored', () => {
  expect(messageText({ ...payout, state: 'unknown', withheld_by: null })).toBe(why);
  expect(messageText({ ...payout, state: 'held', message: null, withheld_by: null })).toBe('');
});
