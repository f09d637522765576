import { expect, it } from 'vitest';
import { decisionQuestion } from '../../../src/faces/terminal/decisions/decided.ts';
import { weigh } from '../../../src/watching/evidence/weigh.ts';
import { newsOf, plainCause } from '../../../src/words/plain-words.ts';
import { addBatch, at, claimAt, makeLedger, recordOutcome, replies } from '../../support/ledger.ts';

it.each([
  ['no answer: UND_ERR_SOCKET other side closed', /^the connection broke before an answer came \(UND_ERR/],
  ['no answer: ETIMEDOUT', /^no answer came in time \(ETIMEDOUT\)$/],
  ['no answer: The operation was aborted due to timeout', /^no answer came in time \(/],
  [
    "HTTP 502 without the service's envelope",
    /^something other than the service answered, or an error page \(/,
  ],
  ['connect ECONNREFUSED 127.0.0.1:1', /^the service could not be reached \(connect/],
])('tells "%s" in plain words first', (message, told) => {
  expect(plainCause(message)).toMatch(told);
});

it('leaves what the service said as it is, and calls the answer to the order what it is once the payout ended', async () => {
  expect(plainCause('Transfer initiated')).toBe('Transfer initiated');
  const ledger = await makeLedger();
  const ids = await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  for (const outcome of [replies.unknown(), replies.refused()]) {
    const [claimed] = await claimAt(ledger, at(1));
    if (claimed) await recordOutcome(ledger, at(2), claimed, outcome);
  }
  const shown = await weigh(ledger.db, { ids, since: at(3) });
  await ledger.remove();
  expect(decisionQuestion(shown, true)).toBe('Send 2 of 3 payouts again, NGN 3,000.00?');
  expect(decisionQuestion(shown, false)).toMatch(
    /^Order that 2 of 3 .* next submit\? Nothing is sent now\.$/,
  );
  const [, refused] = shown.cases;
  if (!refused) throw new Error('no case');
  const { payout, attempts } = refused;
  expect(newsOf(payout, attempts), 'why it was refused').toBe('no');
  expect(newsOf({ ...payout, state: 'failed' }, attempts)).toBe('first answer: no');
  expect(newsOf({ ...payout, state: 'failed', message: 'account closed' }, attempts)).toBe('account closed');
});
