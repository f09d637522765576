import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { describeDelivery } from '../../../src/watching/webhooks/delivery.ts';
import {
  countDiffering,
  differingReference,
  storeDeliveries,
} from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const now = Date.UTC(2026, 10, 21, 10, 0, 0);
const described = (body: string, headers: Record<string, string> = {}) =>
  describeDelivery({
    body: Buffer.from(body),
    headers,
    authorization: 'absent',
    signedWith: '0123456789ab',
    source: { address: '192.0.2.1', protocol: 'https' },
    receivedAt: new Date(now).toISOString(),
    nowMs: now,
    replayWindowMs: 300_000,
  });

it.each<[string, boolean]>([
  ['1795255200', false],
  ['1795255200000', false],
  ['1795255200000000', false],
  ['1795255200000000000', false],
  ['1795255200.123', false],
  ['2026-11-21T10:00:00Z', false],
  ['2026-11-21T10:00:00z', false],
  ['2026-11-21T10:00:00.1234567890Z', false],
  ['2026-11-21T11:00:00+0100', false],
  ['2026-11-21 11:04:59', false],
  ['Sat, 21 Nov 2026 10:00:00 GMT', false],
  ['  1795255200  ', false],
  ['', false],
  ['1795254899', true],
  ['1795255501', true],
  ['2026-11-21T10:00:00', true],
  ['0', true],
  ['-1795255200', true],
  ['1e99', true],
  ['NaN', true],
  ['99999999999999999999999', true],
  ['1795255200, 1795255200', true],
])('reads the timestamp %j, stale %s', (timestamp, stale) => {
  expect(described('{}', { timestamp }).stale).toBe(stale);
});

it.each([
  ['{"event":"PAYOUT","reference":"R-1"}', 'payout'],
  ['\ufeff{"event":"payout","reference":"R-1"}', 'payout'],
  ['{"event":"Collection","data":{"reference":"R-1"}}', 'transaction'],
  ['{"event":"constructor","reference":"R-1"}', 'unknown'],
])('reads %j as %s', (body, kind) => {
  expect(described(body, {})).toMatchObject({ kind, reference: 'R-1' });
});

it.each<[string, string, boolean]>([
  ['R-1', '{"event":"payout","reference":"R-1"}', false],
  ['r-1', '{"event":"payout","reference":"R-1"}', false],
  ['T-9', '{"event":"payout","reference":"R-1","trx":"T-9"}', false],
  ['R-1', '{"event":"transaction","data":{"reference":"R-1"}}', false],
  ['R-2', '{"event":"payout","reference":"R-1"}', true],
  ['R-2', 'no JSON', true],
])('X-Webhook-Reference %s beside %s: differs %s', (header, body, differs) => {
  const { headers } = described(body, {
    'x-webhook-reference': header,
    'x-webhook-reference-differs': 'maybe',
  });
  expect(differingReference({ headers })).toBe(differs ? header : null);
});

it('takes a delivery whose X-Webhook-Reference names another payout, flags it and asks about both', async () => {
  await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  for (const one of await claimAt(ledger, at(0))) await recordOutcome(ledger, at(1), one, replies.accepted());
  const delivery = described('{"event":"payout","reference":"R-1","statusMessage":"success"}', {
    'x-webhook-reference': 'R-2',
  });
  await ledger.write((trx) => storeDeliveries(trx, [delivery]));
  await applyWebhooks({ ledger, clock: systemClock() });
  const asked = await ledger.db
    .selectFrom('inquiries')
    .innerJoin('payouts', 'payouts.id', 'inquiries.payout_id')
    .select(['payouts.reference', 'inquiries.kind'])
    .where('inquiries.outcome', 'is', null)
    .orderBy('payouts.reference')
    .execute();
  expect(asked).toEqual([
    { reference: 'R-1', kind: 'details' },
    { reference: 'R-2', kind: 'details' },
  ]);
  expect(await countDiffering(ledger.db)).toBe(1);
});
