import { afterEach, beforeEach, expect, it } from 'vitest';
import type { WitnessStatus } from '../../../src/core/domain/payout.ts';
import type { WebhookRejectionKind } from '../../../src/core/domain/rejection.ts';
import { forgedReported, webhookFigures } from '../../../src/watching/webhooks/webhook-figures.sql.ts';
import { recordRejections } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../../support/ledger.ts';

const minute = 60_000;
let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const figures = (enabled = true, ms = 120 * minute) =>
  webhookFigures(ledger.db, { enabled, now: at(ms), graceMs: 60 * minute });

async function hear(payoutId: bigint, ms: number, said: WitnessStatus | null = 'success'): Promise<void> {
  const row = { kind: 'payout', reference: null, trx: null, headers: '{}', stale: 0n };
  const received = { received_at: at(ms), last_received_at: at(ms), deliveries: 1n, applied_at: at(ms) };
  const about = { payout_id: payoutId, collection_id: null, said, body: Buffer.from('') };
  const verdict = said === null ? 'no_status' : 'says';
  await ledger.db
    .insertInto('webhooks')
    .values({ ...row, ...received, ...about, verdict, digest: `${payoutId}${ms}` })
    .execute();
}

it('counts due, heard, late and resent webhooks of final payouts whose grace is over', async () => {
  const [inTime = 0n, late = 0n, pendingOnly = 0n, resent = 0n, never = 0n, mute = 0n] = await addBatch(
    ledger,
    ['IN-TIME', 'LATE', 'PENDING-ONLY', 'RESENT', 'NEVER', 'MUTE'],
    { state: 'success', final_at: at(0) },
  );
  await addBatch(ledger, ['FRESH'], { id: 'b-2', state: 'failed', final_at: at(90 * minute) });
  await addBatch(ledger, ['OPEN'], { id: 'b-3', state: 'pending' });
  await hear(inTime, 60 * minute);
  await hear(inTime, 100 * minute);
  await hear(late, 60 * minute + 1);
  await hear(pendingOnly, 1, 'pending');
  await hear(mute, 1, null);
  await hear(resent, 80 * minute);
  const request = { reason: 'webhook missing', raw: null, outcome: 'asked' as const };
  for (const [payoutId, ms] of [
    [resent, 70 * minute],
    [never, 70 * minute],
    [late, 100 * minute],
  ] as const) {
    const when = { due_at: at(ms), asked_at: at(ms), answered_at: at(ms) };
    await ledger.db
      .insertInto('resend_requests')
      .values({ ...request, ...when, payout_id: payoutId, collection_id: null })
      .execute();
  }
  expect(await figures()).toEqual({ due: 6, heard: 3, late: 2, forged: 0, resent: 1 });
  expect(await figures(true, 150 * minute)).toMatchObject({ due: 7 });
});

it('nothing is due where nobody can reach us', async () => {
  await addBatch(ledger, ['R-1'], { state: 'success', final_at: at(0) });
  expect(await figures(false)).toEqual({ due: 0, heard: 0, late: 0, forged: 0, resent: 0 });
});

it('counts forged deliveries since the last run, also when more came than are kept', async () => {
  const rejection = (kind: WebhookRejectionKind) => ({
    at: at(0),
    path: '/webhooks/test',
    kind,
    detail: '',
    address: '192.0.2.1',
  });
  for (let i = 0; i < 30; i++)
    await ledger.write((trx) =>
      recordRejections(
        trx,
        Array.from({ length: 100 }, () => rejection('signature_wrong')),
      ),
    );
  await ledger.write((trx) =>
    recordRejections(trx, [
      rejection('signature_missing'),
      rejection('authorization_wrong'),
      rejection('merchant_signature_wrong'),
    ]),
  );
  expect((await figures()).forged).toBe(3_001);
  await ledger.write((trx) => recordRejections(trx, [rejection('signature_wrong')]));
  await ledger.write((trx) => forgedReported(trx, 3_001));
  expect((await figures()).forged, 'what came while the run reported counts for the next').toBe(1);
});
