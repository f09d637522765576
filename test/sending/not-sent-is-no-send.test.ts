import { afterEach, beforeEach, expect, it } from 'vitest';
import { payoutStory } from '../../src/books/overview.sql.ts';
import type { ServiceClient } from '../../src/core/service/types.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { payoutMoments } from '../../src/words/payout-moments.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  type TestLedger,
} from '../support/ledger.ts';
import { clientOf, senderOf } from './setting.ts';

let ledger: TestLedger;
let sandbox: Sandbox;
let client: ServiceClient;
beforeEach(async () => {
  ledger = await makeLedger();
  sandbox = await createSandbox({ settleMs: 60_000 });
  client = clientOf(sandbox);
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
  await ledger.remove();
});

/** The service as it is where a reference that it does not know gives an error page. */
const withErrorPages = (): ServiceClient => ({
  ...client,
  fetchTransferDetails: async () => ({
    kind: 'trouble',
    reason: 'server_error',
    message: 'HTTP 500',
    httpStatus: 500,
    retryAfterMs: null,
  }),
});

/** Claims R-1 at this time, and records how its attempt ended. */
async function attempt(when: number, outcome: ReturnType<(typeof replies)['notSent']>) {
  const [claimed] = await claimAt(ledger, at(when));
  if (!claimed) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(when + 1), claimed, outcome);
  return claimed;
}

it('P7, P31: what provably never left goes without an answer of the service', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await attempt(0, replies.notSent());
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'ready', submitted_at: null });
  const result = await senderOf(ledger, withErrorPages()).run();
  expect(result).toMatchObject({ ended: 'drained', counts: { accepted: 1 } });
  expect(await ledger.db.selectFrom('inquiries').select('id').execute()).toEqual([]);
});

it('P8, P31: what was turned away before still needs an answer after an attempt that never left', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await attempt(0, replies.turnedAway());
  await attempt(10, replies.notSent());
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'ready', submitted_at: at(0) });
  const result = await senderOf(ledger, withErrorPages()).run();
  expect(result.ended).toBe('stuck');
  expect(sandbox.requests.posts).toBe(0);
});

it('P7: the time of sending is that of the first attempt that may have left', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await attempt(0, replies.notSent());
  await attempt(10, replies.accepted('7'));
  expect((await payoutById(ledger, id)).submitted_at).toBe(at(10));
});

it('P7: the history does not say "sent" of a request that never left', async () => {
  await addBatch(ledger, ['R-1']);
  await attempt(0, replies.notSent());
  await attempt(10, replies.accepted('7'));
  const story = await payoutStory(ledger, 'R-1');
  if (!story) throw new Error('no such payout');
  const sent = payoutMoments(story).filter(({ text }) => text.startsWith('sent'));
  expect(sent).toEqual([{ at: at(10), text: 'sent (attempt 1)' }]);
});
