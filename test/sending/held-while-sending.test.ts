import { expect, it, onTestFinished } from 'vitest';
import { record } from '../../src/core/ledger/record.ts';
import type { ServiceClient } from '../../src/core/service/types.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { abandonClaims } from '../../src/sending/claims.sql.ts';
import { cancelUnsent } from '../../src/sending/decisions/cancel-unsent.sql.ts';
import { holdBatch, holdReturned, releaseBatch } from '../../src/sending/holds.sql.ts';
import { addBatch, at, claimAt, makeLedger, payoutById, replies, states } from '../support/ledger.ts';
import { clientOf, named, senderOf } from './setting.ts';

it('P21: what the service turned away while its batch was being held waits with it, and goes on once released', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const sandbox = await createSandbox({ settleMs: 60_000, faults: { 'R-1': 'edge_429_once' } });
  onTestFinished(() => sandbox.stop());
  const client = clientOf(sandbox);
  onTestFinished(() => client.close());
  const [first = 0n] = await addBatch(ledger, named(3));
  const batch = { batch: 'b-1', at: at(10) };
  // The brake comes while R-1 is in its request.
  const service: ServiceClient = {
    ...client,
    async bankTransfer(...order) {
      const outcome = await client.bankTransfer(...order);
      if (order[1] === 'R-1') await holdBatch(ledger, { ...batch, reason: { kind: 'person' } });
      return outcome;
    },
  };
  expect(await senderOf(ledger, service).run()).toMatchObject({
    ended: 'drained',
    counts: { turned_away: 1 },
  });
  expect(await states(ledger)).toEqual({ 'R-1': 'held', 'R-2': 'held', 'R-3': 'held' });
  expect((await payoutById(ledger, first)).message).toMatch(/batch was held/);
  await senderOf(ledger, service).run();
  expect(sandbox.requests.posts, 'nothing goes out of a held batch').toBe(1);
  expect(await releaseBatch(ledger, batch)).toMatchObject({ moved: 3, kept: 0 });
  await senderOf(ledger, client).run();
  const asked = await ledger.db.selectFrom('inquiries').select('outcome').execute();
  expect(asked, 'the look-up comes first (P8)').toEqual([{ outcome: 'not_found' }]);
  expect(await states(ledger)).toEqual({
    'R-1': 'pending',
    'R-2': 'pending',
    'R-3': 'pending',
  });
});

it('P21: what the service turned away while its batch was being cancelled is not sent, and a second cancel ends it', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const sandbox = await createSandbox({ settleMs: 60_000, faults: { 'R-1': 'edge_429_once' } });
  onTestFinished(() => sandbox.stop());
  const client = clientOf(sandbox);
  onTestFinished(() => client.close());
  await addBatch(ledger, named(3));
  const cancel = () =>
    cancelUnsent(ledger, { batch: 'b-1', at: at(10), source: 'person', why: 'wrong month' });
  const service: ServiceClient = {
    ...client,
    async bankTransfer(...order) {
      const outcome = await client.bankTransfer(...order);
      if (order[1] === 'R-1') await cancel();
      return outcome;
    },
  };
  await senderOf(ledger, service).run();
  expect(await states(ledger)).toEqual({ 'R-1': 'held', 'R-2': 'cancelled', 'R-3': 'cancelled' });
  await senderOf(ledger, client).run();
  expect(sandbox.requests.posts, 'nothing more goes out of a cancelled batch').toBe(1);
  expect(await cancel()).toMatchObject({ cancelled: 1 });
  const { hold_reasons } = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
  expect(hold_reasons, 'nothing is on its way any more').toBe('[]');
});

it('P21: what a stalled worker shows to be unsent after its batch was cancelled is not sent, and a second cancel ends it', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  await addBatch(ledger, ['R-1', 'R-2']);
  const [stalled] = await claimAt(ledger, at(0));
  if (!stalled) throw new Error('nothing was claimed');
  await ledger.write((trx) => abandonClaims(trx, 'w-1', at(10)));
  const cancel = (ms: number) =>
    cancelUnsent(ledger, { batch: 'b-1', at: at(ms), source: 'person', why: 'wrong month' });
  await cancel(20);
  expect(await states(ledger)).toEqual({ 'R-1': 'unknown', 'R-2': 'cancelled' });
  const { payoutId, attemptId } = stalled;
  const event = { kind: 'outcome' as const, attemptId, outcome: replies.notSent() };
  await ledger.write(async (trx) =>
    holdReturned(trx, at(30), await record(trx, at(30), [{ payoutId, source: 'response', event }])),
  );
  expect(await states(ledger)).toMatchObject({ 'R-1': 'held' });
  expect(await claimAt(ledger, at(40), 5, 'w-2')).toEqual([]);
  expect(await cancel(50)).toMatchObject({ cancelled: 1 });
});
