import { afterEach, beforeEach, expect, it } from 'vitest';
import { applyWebhooks } from '../../src/observation/apply-webhooks.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  states,
  type TestLedger,
} from '../support/ledger.ts';
import { deliver, handClock } from './setting.ts';

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

const apply = () => applyWebhooks({ ledger, clock, mode: 'test' });
const effects = async () =>
  (await ledger.db.selectFrom('webhooks').select('effect').orderBy('id').execute()).map((row) => row.effect);
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
