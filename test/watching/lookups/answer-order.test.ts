import { expect, it } from 'vitest';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import { weigh } from '../../../src/watching/evidence/weigh.ts';
import { addBatch, at, claimAt, recordOutcome, replies } from '../../support/ledger.ts';
import { lookUpsOf } from './setting.ts';
import { client, clock, ledger, sandbox, withService } from './with-service.ts';

withService();

it('P20: of two answers the one that came last counts, whichever question was put first', async () => {
  await addBatch(ledger, ['R-1']);
  const [claim] = await claimAt(ledger, at(0));
  if (!claim) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(0), claim, replies.unknown());
  const { payoutId } = claim;
  clock.set(60_000);
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const slow: ServiceClient = {
    ...client,
    async fetchTransferDetails(...request) {
      asked.resolve();
      await gate.promise;
      return client.fetchTransferDetails(...request);
    },
  };
  const late = lookUpsOf(ledger, clock, slow).askNow([payoutId]);
  await asked.promise;
  // Another process hears that there is no such transfer, and puts the next question on the list.
  await lookUpsOf(ledger, clock, client).askNow([payoutId]);
  const transfer = sandbox.book.plant({
    reference: 'R-1',
    account_number: '0123456789',
    bank_code: '000013',
    amount: '1500.00',
    status: 'pending',
  });
  gate.resolve();
  await late;
  sandbox.book.change(transfer.id, { status: 'failed' });
  clock.set(400_000);
  await lookUpsOf(ledger, clock, client).askDue({ budget: 9 });

  const [one] = (await weigh(ledger.db, { ids: [payoutId], since: at(60_000) })).cases;
  expect(one).toMatchObject({ payout: { state: 'failed' }, lookUp: { said: 'failed' }, verdict: 'failed' });
});
