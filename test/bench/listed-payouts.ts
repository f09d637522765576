import type { Ledger } from '../../src/core/storage/ledger.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { openDay } from '../../src/sending/limits.sql.ts';
import { batchRow } from '../support/batch-row.ts';

const sent = '2026-10-01T00:00:00.000Z';

/** So many pending payouts that the service of list-process.ts lists, as if sent; ids are the transfers' ids. */
export async function addListed(ledger: Ledger, rows: number): Promise<void> {
  const batch = batchRow('b', sent, { row_count: BigInt(rows) });
  await ledger.db.insertInto('batches').values(batch).execute();
  for (let from = 1; from <= rows; from += 500) {
    const some = Array.from({ length: Math.min(500, rows - from + 1) }, (_, i) => from + i);
    await ledger.write(async (trx) => {
      await trx.insertInto('payouts').values(some.map(payoutOf)).execute();
      const day_id = await openDay(trx, { brakes: noBrakes, at: sent });
      const attempts = some.map((n) => ({ ...attemptOf(n), day_id }));
      await trx.insertInto('attempts').values(attempts).execute();
    });
  }
}

function payoutOf(n: number) {
  const order = {
    account_number: '0123456789',
    account_name: 'ADA OBI',
    bank_code: '000013',
    currency: 'NGN',
  };
  return {
    ...order,
    id: BigInt(n),
    batch_id: 'b',
    row_number: BigInt(n + 1),
    reference: `OURS-${n}`,
    reference_key: `ours-${n}`,
    amount: 10_000n,
    narration: 'November salary',
    sender_name: 'Acme Ltd',
    type: null,
    body: '{}',
    cells: '[]',
    state: 'pending' as const,
    attempt_count: 1n,
    last_attempt_id: BigInt(n),
    transfer_id: String(n),
    submitted_at: sent,
    evidence: 'response',
    updated_at: sent,
  };
}

function attemptOf(n: number) {
  return {
    id: BigInt(n),
    payout_id: BigInt(n),
    number: 1n,
    worker_id: 'w',
    began_at: sent,
    ended_at: sent,
    outcome: 'accepted' as const,
    transfer_id: String(n),
  };
}
