import { afterEach, beforeEach, expect, it } from 'vitest';
import { record } from '../../../src/core/ledger/record.ts';
import { applyWebhooks, applyWebhooksAgain } from '../../../src/watching/webhooks/apply-inbox.ts';
import { effectOf } from '../../../src/words/word-texts.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  states,
  type TestLedger,
} from '../../support/ledger.ts';
import { deliver, handClock } from '../lookups/setting.ts';

let ledger: TestLedger;
const clock = handClock();
beforeEach(async () => {
  ledger = await makeLedger();
  await addBatch(ledger, ['R-1']);
  const [one] = await claimAt(ledger, at(0));
  if (one) await recordOutcome(ledger, at(1), one, replies.accepted());
  clock.set(10);
});
afterEach(() => ledger.remove());

const apply = () => applyWebhooks({ ledger, clock });
const effects = async () =>
  (await ledger.db.selectFrom('webhooks').selectAll().orderBy('id').execute()).map(effectOf);
const asked = () =>
  ledger.db.selectFrom('inquiries').select(['kind', 'due_at']).where('outcome', 'is', null).execute();

it('P14: a webhook never makes a payout final; it raises the question that can', async () => {
  await deliver(ledger);
  expect(await apply()).toBe(1);
  expect(await states(ledger)).toEqual({ 'R-1': 'pending' });
  expect(await effects()).toEqual(['says success']);
  expect(await asked()).toEqual([{ kind: 'details', due_at: at(10) }]);
  const { evidence } = await ledger.db.selectFrom('payouts').select('evidence').executeTakeFirstOrThrow();
  expect(evidence).toBe('response+webhook');
});

it.each([
  ['amount', '1501.00'],
  ['currency', 'ZAR'],
  ['account_number', '0123456780'],
  ['bank_code', '058'],
  ['domain', 'live'],
])('P18: another %s is a conflict, written down and asked about, and no evidence', async (field, value) => {
  await deliver(ledger, { [field]: value });
  await apply();
  expect((await effects())[0]).toMatch(new RegExp(`^conflict: ${field} is `));
  expect(await asked()).toHaveLength(1);
  const { evidence } = await ledger.db.selectFrom('payouts').select('evidence').executeTakeFirstOrThrow();
  expect(evidence).toBe('response');
});

it('P18: byte-equal repeats have one effect and count as heard', async () => {
  await deliver(ledger);
  await apply();
  await deliver(ledger);
  expect(await apply()).toBe(0);
  const rows = await ledger.db.selectFrom('webhooks').select('deliveries').execute();
  expect(rows).toEqual([{ deliveries: 2n }]);
});

it('P18: a stale delivery is a reason to ask, not a witness, until a fresh one comes', async () => {
  await deliver(ledger, {}, true);
  await apply();
  expect(await effects()).toEqual(['stale: a reason to ask, not a witness']);
  expect(await asked()).toHaveLength(1);
  await deliver(ledger, {}, false);
  expect(await apply()).toBe(1);
  expect(await effects()).toEqual(['says success']);
});

it('a webhook that nobody can place is kept as unmatched and moves nothing', async () => {
  await deliver(ledger, { reference: 'ELSE-1', trx: 'ELSE', amount: '9.00' });
  await apply();
  expect(await effects()).toEqual(['unmatched']);
  expect(await asked()).toEqual([]);
});

it('P15: under an unknown reference, the same account and amount only raise a question', async () => {
  await deliver(ledger, { reference: 'ELSE-1', trx: 'ELSE' });
  await apply();
  expect(await effects()).toEqual(['unmatched; asked about look-alikes']);
  expect(await asked()).toHaveLength(1);
});

it('P15: so does one that writes the currency in small letters', async () => {
  await deliver(ledger, { reference: 'ELSE-1', trx: 'ELSE', currency: 'ngn' });
  await apply();
  expect(await effects()).toEqual(['unmatched; asked about look-alikes']);
});

it('P18: two different final words about one transfer are a conflict, whichever comes first', async () => {
  await deliver(ledger, { statusMessage: 'failed' });
  await deliver(ledger);
  await apply();
  expect(await effects()).toEqual([
    'says failed',
    'conflict: a webhook says success, an earlier one said failed',
  ]);
  expect(await states(ledger)).toEqual({ 'R-1': 'pending' });
  expect(await asked()).toHaveLength(1);
});

it('P18: a new timestamp, pending then success, and a return after success are no conflict', async () => {
  await deliver(ledger, { statusMessage: 'pending' });
  await deliver(ledger, { timestamp: at(1) });
  await deliver(ledger, { timestamp: at(2) });
  await deliver(ledger, { statusMessage: 'reversed' });
  await apply();
  expect(await effects()).toEqual(['says pending', 'says success', 'says success', 'says returned']);
});

it('P4: a webhook that says failed never fails a payout, not even one that was sent again', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-2'], { id: 'b-2' });
  for (const ms of [20, 40]) {
    const [claim] = await claimAt(ledger, at(ms));
    if (claim) await recordOutcome(ledger, at(ms + 1), claim, replies.unknown());
    const event = { kind: 'retry' as const, to: 'ready' as const, automatic: false, why: 'a person' };
    if (ms === 20) await ledger.write((trx) => record(trx, at(30), [{ payoutId: id, source: 'p', event }]));
  }
  await deliver(ledger, { reference: 'R-2', statusMessage: 'failed', trx: 'TRX2' });
  await apply();
  expect((await payoutById(ledger, id)).state).toBe('pending');
  expect(await asked()).toHaveLength(1);
});

it('applies those about several payouts together as if one after the other', async () => {
  await addBatch(ledger, ['R-2', 'R-3'], { id: 'b-2' });
  for (const one of await claimAt(ledger, at(2), 2))
    await recordOutcome(ledger, at(3), one, replies.accepted());
  await deliver(ledger, { reference: 'R-2', trx: 'TRX-2', statusMessage: 'pending' });
  await deliver(ledger, { reference: 'R-3', trx: 'TRX-3', amount: '9.00' });
  await deliver(ledger, { reference: 'THEIRS-2', trx: 'TRX-2' });
  await deliver(ledger, { reference: 'R-2', trx: 'TRX-2', statusMessage: 'failed' });
  await deliver(ledger, { reference: 'R-1' }, true);
  expect(await apply()).toBe(5);
  expect(await effects()).toEqual([
    'says pending',
    'conflict: amount is 9.00, ours 1500.00',
    'says success',
    'conflict: a webhook says failed, an earlier one said success',
    'stale: a reason to ask, not a witness',
  ]);
  const placed = await ledger.db
    .selectFrom('webhooks')
    .leftJoin('payouts', 'payouts.id', 'webhooks.payout_id')
    .select('payouts.reference')
    .orderBy('webhooks.id')
    .execute();
  expect(placed.map(({ reference }) => reference)).toEqual(['R-2', 'R-3', 'R-2', 'R-2', 'R-1']);
  expect(await asked()).toHaveLength(3);
});

it('P18: a webhook that another process applied meanwhile is not applied again to what was found out since', async () => {
  await deliver(ledger);
  const id = (await ledger.db.selectFrom('payouts').select('id').executeTakeFirstOrThrow()).id;
  const shown = { transferId: '481', trx: null, fee: null, message: null, settledAt: null };
  const witness = { source: 'details' as const, status: 'failed' as const, ...shown };
  let first = true;
  const write: TestLedger['write'] = async (work) => {
    if (first) {
      first = false;
      await apply();
      const event = { kind: 'witness' as const, witness };
      await ledger.write((trx) => record(trx, at(11), [{ payoutId: id, source: 'details', event }]));
    }
    return ledger.write(work);
  };
  await applyWebhooks({ ledger: { ...ledger, write }, clock });
  expect([await states(ledger), await effects()]).toEqual([{ 'R-1': 'failed' }, ['says success']]);
});

it('P18: a webhook under a name of the service counts as heard once its trx is known for ours, and its amount is compared', async () => {
  await deliver(ledger, { reference: 'THEIRS-1', trx: 'TRX-1' });
  await deliver(ledger, { reference: 'THEIRS-1', trx: 'TRX-1', amount: '9.00' });
  await apply();
  expect(await effects()).toEqual(['unmatched; asked about look-alikes', 'unmatched']);
  await applyWebhooksAgain({ ledger, clock });
  expect(await effects(), 'nobody knows the trx').toEqual([
    'unmatched; asked about look-alikes',
    'unmatched',
  ]);
  const [id = 0n] = (await ledger.db.selectFrom('payouts').select('id').execute()).map((row) => row.id);
  const nothing = { transferId: null, fee: null, message: null, settledAt: null };
  const witness = { source: 'listing' as const, status: 'success' as const, trx: 'TRX-1', ...nothing };
  const event = { kind: 'witness' as const, witness };
  await ledger.write((trx) => record(trx, at(20), [{ payoutId: id, source: 'listing', event }]));
  await applyWebhooksAgain({ ledger, clock });
  expect(await effects()).toEqual(['says success', 'conflict: amount is 9.00, ours 1500.00']);
});
