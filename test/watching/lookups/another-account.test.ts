import { afterEach, beforeEach, expect, it } from 'vitest';
import { accountOf, type ServiceAccount } from '../../../src/core/domain/origin.ts';
import { recordStandpoint } from '../../../src/core/ledger/origins.ts';
import { createDecisions } from '../../../src/sending/decisions/decisions.ts';
import { applyWebhooks, applyWebhooksAgain } from '../../../src/watching/webhooks/apply-inbox.ts';
import { signedWithHeader } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { rowFaultText } from '../../../src/words/row-fault-words.ts';
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
import { deliver, handClock, lookUpsOf } from './setting.ts';

let ledger: TestLedger;
let id: bigint;
const clock = handClock();
const rules = { mode: 'test' as const, referencePrefix: '', payoutLimit: {} };

function account(baseUrl: string, ...secretKeys: string[]): ServiceAccount {
  const made = accountOf(baseUrl, { secretKeys, encryptionKeys: [] }, 'secret');
  if (!made) throw new Error('no account');
  return made;
}
const sender = account('http://a.example', 'sk_test_a');
const otherKey = account('http://a.example', 'sk_test_b');
const otherAddress = account('http://b.example', 'sk_test_a');

beforeEach(async () => {
  ledger = await makeLedger();
  [id = 0n] = await addBatch(ledger, ['R-1']);
  const [one] = await claimAt(ledger, at(0));
  if (one) await recordOutcome(ledger, at(1), one, replies.unknown());
  const { originId } = await recordStandpoint(ledger, sender);
  await ledger.db.updateTable('attempts').set({ origin_id: originId }).execute();
  clock.set(10);
});
afterEach(() => ledger.remove());

const heardBy = (by: ServiceAccount) => applyWebhooks({ ledger, clock, account: by });

it('P31: a webhook signed with a key that an unknown was not sent with is a question, not a witness', async () => {
  await deliver(ledger);
  await heardBy(otherKey);
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'unknown', evidence: '', trx: null });
  const open = ledger.db.selectFrom('inquiries').select('reason').where('outcome', 'is', null);
  expect(await open.execute()).toMatchObject([{ reason: 'unknown' }]);
  const due = await ledger.db.selectFrom('inquiries').select('due_at').where('outcome', 'is', null).execute();
  expect(due, 'asked at once').toEqual([{ due_at: at(10) }]);
});

/** A webhook that was signed with the other key, and may be applied by a process that has another configuration. */
async function deliverOthers(): Promise<void> {
  await deliver(ledger);
  const headers = JSON.stringify({ [signedWithHeader]: otherKey.own.secretKey });
  await ledger.db.updateTable('webhooks').set({ headers }).execute();
}

it('P31: a webhook is judged by the key that signed it, not by the keys of the process that applies it', async () => {
  await deliverOthers();
  await heardBy(sender);
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'unknown', evidence: '', trx: null });
});

it('P18, P31: a webhook under another key counts once both keys are known to be one account, and only then', async () => {
  await deliverOthers();
  await heardBy(otherKey);
  const verdict = async () =>
    (await ledger.db.selectFrom('webhooks').select('verdict').executeTakeFirst())?.verdict;
  for (const one of [otherKey, sender]) {
    expect(await applyWebhooksAgain({ ledger, clock, account: one })).toBe(0);
    expect(await verdict()).toBe('other_key');
  }
  const both = account('http://a.example', 'sk_test_a', 'sk_test_b');
  expect(await applyWebhooksAgain({ ledger, clock, account: both })).toBe(1);
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'pending', evidence: 'webhook', trx: 'TRX1' });
  expect([await verdict(), await applyWebhooksAgain({ ledger, clock, account: both })]).toEqual(['says', 0]);
});

it('P18, P31: a repeat of it under the right key counts', async () => {
  await deliverOthers();
  await heardBy(otherKey);
  await deliver(ledger);
  await heardBy(sender);
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'pending', evidence: 'webhook' });
});

for (const [name, by] of [
  ['its own account', sender],
  ['another address with the same key', otherAddress],
] as const)
  it(`P18: a webhook heard by ${name} shows that an unknown is on its way`, async () => {
    await deliver(ledger);
    await heardBy(by);
    expect(await payoutById(ledger, id)).toMatchObject({ state: 'pending', evidence: 'webhook' });
  });

it('P14, P32: a webhook with our key that no details bear out allows no second payment and no false word', async () => {
  await deliver(ledger);
  await heardBy(sender);
  clock.set(20);
  const json = { success: false, status: '04', message: 'no' };
  const date = Date.parse(at(20));
  const lookUps = lookUpsOf(ledger, clock, {
    fetchTransferDetails: async () => ({ kind: 'reply', httpStatus: 200, json, raw: '{}', date }),
  });
  await lookUps.lookUp([id]);
  clock.set(30);
  const decisions = createDecisions({
    ledger,
    clock,
    say: rowFaultText,
    rules: { ...rules, account: sender },
  });
  const { cases, digest } = await decisions.weigh([id], at(20));
  expect(cases[0]).toMatchObject({ had: false, remedies: ['settle'], judgement: { kind: 'no' } });
  expect(JSON.stringify(cases[0]?.judgement)).toContain('did not find it');
  await decisions.retry({ ids: [id], since: at(20), digest, person: 'ada' });
  expect(await payoutById(ledger, id), 'no order was taken').toMatchObject({ state: 'pending' });
  expect(await claimAt(ledger, at(40), 5)).toEqual([]);
});
