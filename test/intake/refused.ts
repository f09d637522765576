import { expect } from 'vitest';
import { record } from '../../src/core/ledger/record.ts';
import { confirmFiles } from '../../src/intake/confirm.ts';
import { claimAt, recordOutcome, replies } from '../support/ledger.ts';
import { anyDay, type Setting } from './setting.ts';

/** Sends what is ready; the service refuses it. */
export async function refuseAll(s: Setting): Promise<void> {
  await confirmFiles(s, anyDay);
  for (const claimed of await claimAt(s.ledger, s.clock.iso(), 10))
    await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.refused());
}

/** The service's details show a payout as paid, or as failed, whatever it said before. */
export async function showAs(s: Setting, reference: string, status: 'success' | 'failed'): Promise<void> {
  const { id } = await s.ledger.db
    .selectFrom('payouts')
    .select('id')
    .where('reference', '=', reference)
    .executeTakeFirstOrThrow();
  const none = { transferId: null, trx: null, fee: null, settledAt: null, message: null };
  const witness = { source: 'details' as const, status, ...none };
  const event = { kind: 'witness' as const, witness };
  await s.ledger.write((trx) => record(trx, s.clock.iso(), [{ payoutId: id, source: 'details', event }]));
}

/** A payout that is ready is sent now and paid. */
export async function payNow(s: Setting, reference: string): Promise<void> {
  await confirmFiles(s, anyDay);
  const claims = await claimAt(s.ledger, s.clock.iso(), 10);
  expect(claims.map((one) => one.reference)).toEqual([reference]);
  for (const claimed of claims) await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.accepted('1'));
  await showAs(s, reference, 'success');
}
