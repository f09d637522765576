import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Contradiction } from '../../../src/core/domain/contradiction.ts';
import { columnsOf, onlySaid } from '../../../src/core/ledger/contradiction-columns.ts';
import { addAnswer, addInquiry, closeInquiry } from '../../../src/core/ledger/inquiries.ts';
import { newestWebhook } from '../../../src/core/ledger/known.ts';
import { record } from '../../../src/core/ledger/record.ts';
import { refusals } from '../../../src/faces/terminal/decisions/decided.ts';
import { listedTransfer, nightOf } from '../../books/discrepancies/setting.ts';
import { adoptGoneBack } from '../../custody/adoption.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';
import { createSetting } from './setting.ts';

let ledger: TestLedger;

beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const { decisionsOf, send, retryNow } = createSetting(() => ledger);

/** A details look-up asked and answered just now, with what the ledger wrote down of it. */
async function answered(
  id: bigint,
  ms: number,
  one: Extract<Contradiction, { kind: 'differs' }>,
): Promise<void> {
  await ledger.write(async (trx) => {
    await addInquiry(trx, { payoutId: id, reason: 'asked', dueAt: at(ms), rung: 0n });
    const open = trx.selectFrom('inquiries').select('id').where('outcome', 'is', null);
    const row = await open.where('payout_id', '=', id).executeTakeFirstOrThrow();
    const answer = { outcome: one.kind, word: columnsOf(one), webhookMark: await newestWebhook(trx) };
    await closeInquiry(trx, row.id, { askedAt: at(ms), answeredAt: at(ms + 1), ...answer, raw: null });
  });
}

const failedWitness = {
  source: 'details' as const,
  status: 'failed' as const,
  transferId: '481',
  trx: null,
  fee: null,
  message: null,
  settledAt: null,
};

/** A details look-up, asked then, shows it as failed 5 ms later. */
async function saysFailed(payoutId: bigint, ms: number): Promise<void> {
  const event = { kind: 'witness' as const, witness: failedWitness };
  const answer = { askedAt: at(ms), answeredAt: at(ms + 5), outcome: 'found', raw: null } as const;
  await ledger.write(async (trx) => {
    await record(trx, at(ms + 5), [{ payoutId, source: 'details', event }]);
    const webhookMark = await newestWebhook(trx);
    await addAnswer(trx, payoutId, { ...answer, word: onlySaid('failed'), webhookMark });
  });
}

it('P15: a refused payout is not paid again while the service shows a transfer of it that contradicts ours', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await send(replies.refused());
  const differences = [{ field: 'bank_code', actual: '13', expected: '000013' }];
  await answered(id, 1000, { kind: 'differs', differences });
  const [one] = (await decisionsOf().weigh([id], at(1000))).cases;
  expect(one).toMatchObject({ verdict: 'conflict', judgement: { kind: 'no' } });
  expect(await retryNow([id])).toMatchObject({ kind: 'decided', decided: [] });
});

it('P19: an acceptance that comes after a person said not paid reopens it', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  const [claimed] = await claimAt(ledger, at(1));
  if (!claimed) throw new Error('nothing was claimed');
  const { attemptId } = claimed;
  const abandoned = { kind: 'abandoned' as const, attemptId, why: 'its process died' };
  await ledger.write((trx) => record(trx, at(2), [{ payoutId: id, source: 'takeover', event: abandoned }]));
  const decisions = decisionsOf();
  const { digest } = await decisions.weigh([id], at(3));
  const order = {
    ids: [id],
    since: at(3),
    digest,
    person: 'ada',
    as: 'failed' as const,
    note: 'bank letter',
  };
  expect(await decisions.settle(order)).toMatchObject({ kind: 'decided' });
  await recordOutcome(ledger, at(4), claimed, replies.accepted());
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'pending', evidence: 'response' });
});

it('P4: nothing is settled while a later attempt of it is in a request', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await send(replies.unknown());
  await retryNow([id]);
  await claimAt(ledger, at(6000));
  // As an older version of this ledger left it: unknown again, though its second attempt is under way.
  await ledger.db.updateTable('payouts').set({ state: 'unknown' }).execute();
  const decisions = decisionsOf();
  const { digest } = await decisions.weigh([id], at(6001));
  const order = { ids: [id], since: at(6001), digest, person: 'ada', as: 'failed' as const, note: 'no' };
  expect(await decisions.settle(order)).toMatchObject({ kind: 'changed' });
  expect((await payoutById(ledger, id)).state).toBe('unknown');
});

it.each(['refused', 'failed'] as const)(
  'P25: a payout that was %s is not sent again where a lost copy of the ledger may have paid it under a new reference',
  async (state) => {
    const [id = 0n] = await addBatch(ledger, ['R-1']);
    await send(state === 'refused' ? replies.refused() : replies.accepted());
    if (state === 'failed') await saysFailed(id, 50);
    // Another that the list shows, so that it is believed to be of our account.
    await addBatch(ledger, ['R-0'], { id: 'b-0' });
    await send(replies.accepted('T-R-0'));
    ledger = await adoptGoneBack(ledger, 10_000);
    const rows = [listedTransfer('R-1-R2'), listedTransfer('R-0')];
    await nightOf(ledger, { at: 3_600_000, rows, full: true });
    const before = (await decisionsOf().weigh([id], at(3_600_001))).cases[0];
    expect(before).toMatchObject({ lookAlikes: ['R-1-R2'], payout: { state: 'unknown' } });
    expect(before && refusals({ cases: [before], digest: '' })).toMatchObject([
      { why: expect.stringMatching(/find out, then counterfoil settle R-1\b/) },
    ]);
    if (state === 'refused') return;
    await saysFailed(id, 3_600_002);
    const after = (await decisionsOf().weigh([id], at(0))).cases[0];
    expect(after).toMatchObject({ payout: { state: 'failed' }, verdict: 'failed' });
    expect(after?.judgement).toMatchObject({ kind: 'no', why: expect.stringContaining('a lost copy') });
  },
);

it('P20: a look-up that ends an unknown counts as made, no earlier than it was asked', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await send(replies.unknown());
  await saysFailed(id, 1000);
  const [one] = (await decisionsOf().weigh([id], at(1000))).cases;
  expect(one).toMatchObject({
    lookUp: { askedAt: at(1000), answeredAt: at(1005), outcome: 'found', said: 'failed' },
    judgement: { kind: 'successor' },
  });
  const [late] = (await decisionsOf().weigh([id], at(1001))).cases;
  expect(late?.judgement.kind, 'it may be older than this decision').toBe('no');
});
