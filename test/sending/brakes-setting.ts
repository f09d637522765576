import { onTestFinished } from 'vitest';
import { record } from '../../src/core/ledger/record.ts';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { sendable } from '../../src/sending/claims.sql.ts';
import { at, claimAt, makeLedger, type TestLedger } from '../support/ledger.ts';

export const hour = 3_600_000;
export const day = 24 * hour;

/** Each payout of `addBatch` is NGN 1500.00. */
export const limitOf = (ngn: string): Brakes => ({
  ...noBrakes,
  dailyLimit: { NGN: ngn },
  timezone: 'Africa/Lagos',
});

/** A-1 to A-n. */
export const named = (prefix: string, n: number): string[] =>
  Array.from({ length: n }, (_, i) => `${prefix}-${i + 1}`);

/** A ledger of its own, and what may be claimed from it and sent under the brakes given. */
export async function braked() {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  return {
    ledger,
    claimUnder: (brakes: Brakes, ms: number, limit = 10): Promise<string[]> =>
      claimAt(ledger, at(ms), limit, 'w-1', brakes).then((claims) =>
        claims.map(({ reference }) => reference),
      ),
    left: async (brakes: Brakes, ms: number): Promise<number> =>
      (await sendable(ledger.db, { brakes, at: at(ms) })).ready,
  };
}

/** The details look-up of a payout shows it so. */
export async function say(
  ledger: TestLedger,
  reference: string,
  status: 'success' | 'failed',
  ms: number,
): Promise<void> {
  const { id } = await ledger.db
    .selectFrom('payouts')
    .select('id')
    .where('reference', '=', reference)
    .executeTakeFirstOrThrow();
  const told = { source: 'details' as const, status, transferId: null, trx: null, fee: null, message: null };
  const event = { kind: 'witness' as const, witness: { ...told, settledAt: null } };
  await ledger.write((trx) => record(trx, at(ms), [{ payoutId: id, source: 'details', event }]));
}
