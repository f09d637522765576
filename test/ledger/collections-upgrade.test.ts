import { expect, it, onTestFinished } from 'vitest';
import { verifyLedger } from '../../src/ledger/verify/verify.ts';
import { resendsOf } from '../../src/ledger/witnesses/resends.ts';
import { applyWebhooks } from '../../src/observation/apply-webhooks.ts';
import { handClock } from '../observation/setting.ts';
import { at } from '../support/ledger.ts';
import { olderLedger, openUpgraded } from '../support/older-ledger.ts';

/** A ledger file as it was before collections were kept: one payout, resend requests of it, a collection webhook. */
const olderStatements = [
  `insert into meta values ('ledger_id', 'old'), ('birth', '${at(0)}')`,
  `insert into batches values ('b', 'test', 'b', 'b.csv', 'h', 'loaded', '[]', ',', 1, '[]', '', '${at(0)}', 1, -1)`,
  `insert into payouts (id, mode, batch_id, row_number, reference, reference_key, account_number, account_name, bank_code,
    amount, currency, narration, sender_name, body, cells, state, updated_at)
    values (1, 'test', 'b', 2, 'R-1', 'r-1', '0123456789', 'A', '058', 100, 'NGN', 'n', 's', '{}', '[]', 'success', '${at(0)}')`,
  `insert into inquiries (payout_id, kind, reason, due_at, rung, asked_at, answered_at, outcome, raw) values
    (1, 'resend', 'webhook missing', '${at(1)}', 0, '${at(1)}', '${at(2)}', 'asked', 'sent'),
    (1, 'resend', 'webhook missing', '${at(3)}', 0, '${at(3)}', '${at(4)}', 'throttled', 'no'),
    (1, 'resend', 'webhook missing', '${at(5)}', 0, '${at(5)}', '${at(6)}', 'error', 'no'),
    (1, 'resend', 'webhook missing', '${at(7)}', 0, null, null, null, null),
    (1, 'details', 'asked', '${at(8)}', 0, null, null, null, null)`,
  `insert into webhooks (mode, digest, received_at, last_received_at, deliveries, kind, reference, trx, headers, body,
    stale, applied_at, effect) values ('test', 'd', '${at(1)}', '${at(1)}', 1, 'transaction', 'C-1', 'T', '{}',
    cast('{"event":"transaction","data":{"reference":"C-1","status":"success"}}' as blob), 0, '${at(2)}', 'collection recorded')`,
];

it('a ledger of an older version opens, keeps its resend requests and applies the collections it had only kept', async () => {
  const path = await olderLedger(olderStatements);
  const ledger = await openUpgraded(path, () => at(9));
  onTestFinished(() => ledger.close());
  const requests = await resendsOf(ledger.db, { kind: 'payout', id: 1n });
  expect(requests.map((one) => [one.asked_at, one.outcome])).toEqual([
    [at(1), 'asked'],
    [at(5), 'error'],
  ]);
  const left = await ledger.db.selectFrom('inquiries').select('kind').execute();
  expect(left).toEqual([{ kind: 'details' }]);
  expect(await applyWebhooks({ ledger, clock: handClock(), mode: 'test' })).toBe(1);
  const collections = await ledger.db.selectFrom('collections').select(['reference', 'state']).execute();
  expect(collections).toEqual([{ reference: 'C-1', state: 'heard' }]);
  const verdict = await verifyLedger(path);
  const keys = verdict.checks.filter(({ name }) => name === 'integrity' || name === 'foreign_keys');
  expect(keys.map(({ ok, problems }) => [ok, problems])).toEqual([
    [true, []],
    [true, []],
  ]);
});
