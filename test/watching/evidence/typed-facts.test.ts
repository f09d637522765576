import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addBatch, at, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const webhook = (verdict: string) =>
  sql`insert into webhooks (digest, received_at, last_received_at, deliveries, kind, headers, body, stale, verdict)
    values (${verdict}, ${at(1)}, ${at(1)}, 1, 'payout', '{}', ${Buffer.from('')}, 0, ${verdict})`.execute(
    ledger.db,
  );

it('the ledger keeps what a webhook and a look-up said as one of its kinds, never as a sentence', async () => {
  const [id] = await addBatch(ledger, ['R-1']);
  const lookUp = (outcome: string) =>
    sql`insert into inquiries (payout_id, kind, reason, due_at, rung, outcome)
      values (${id}, 'details', 'asked', ${at(1)}, 0, ${outcome})`.execute(ledger.db);
  await webhook('against_ledger');
  await lookUp('against_ledger');
  await expect(webhook('conflict: webhook says success')).rejects.toThrow(/check/i);
  await expect(lookUp('conflict: amount is 1')).rejects.toThrow(/check/i);
});
