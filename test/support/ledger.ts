import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalBody } from '../../src/core/domain/body.ts';
import type { AttemptOutcome } from '../../src/core/domain/outcome.ts';
import { payeeKeysOf } from '../../src/core/domain/payee-name.ts';
import type { PayoutState } from '../../src/core/domain/payout.ts';
import { record, recordIntake } from '../../src/core/ledger/record.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import type { Batch, NewPayout, Payout } from '../../src/core/storage/tables/tables.ts';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { type Claim, claim } from '../../src/sending/claims.sql.ts';
import { batchRow } from './batch-row.ts';
import { openNewLedger } from './new-ledger.ts';

export const born = '2026-11-21T10:00:00.000Z';
/** `born` and so many milliseconds. */
export const at = (ms: number): string => new Date(Date.parse(born) + ms).toISOString();

export type TestLedger = Ledger & { folder: string; remove(): Promise<void> };

/** A real ledger file in a folder of its own. */
export async function makeLedger(): Promise<TestLedger> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-test-'));
  const ledger = await openNewLedger(join(folder, 'ledger.db'), { now: () => born });
  return {
    ...ledger,
    folder,
    remove: async () => {
      await ledger.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A loaded batch of `references` in the state given, history from its first entry; returns the payouts' ids. */
export async function addBatch(
  ledger: Ledger,
  references: readonly string[],
  more: { id?: string; phase?: Batch['phase']; state?: PayoutState } & Partial<Omit<NewPayout, 'id'>> = {},
): Promise<bigint[]> {
  const { id: batchId = 'b-1', phase = 'loaded', state = 'ready', ...given } = more;
  return ledger.write(async (trx) => {
    const batch = batchRow(batchId, born, { phase, row_count: BigInt(references.length) });
    await trx.insertInto('batches').values(batch).execute();
    const ids: bigint[] = [];
    for (const [i, reference] of references.entries()) {
      const payout = payoutOf(reference, {
        batch_id: batchId,
        row_number: BigInt(i + 2),
        state,
        ...given,
      });
      const { id } = await trx.insertInto('payouts').values(payout).returning('id').executeTakeFirstOrThrow();
      ids.push(id);
    }
    await recordIntake(
      trx,
      born,
      ids.map((id) => ({ id, state })),
      { batch: batchId },
    );
    return ids;
  });
}

function payoutOf(
  reference: string,
  own: Partial<NewPayout> & { batch_id: string; row_number: bigint; state: PayoutState },
): NewPayout {
  const order = {
    account_number: '0123456789',
    account_name: 'ADA OBI',
    bank_code: '000013',
    currency: 'NGN',
    narration: 'November salary',
    sender_name: 'Acme Ltd',
  };
  return {
    ...order,
    reference,
    reference_key: reference.toLowerCase(),
    amount: 150_000n,
    type: null,
    body: canonicalBody({ ...order, amount: '1500.00', reference }),
    cells: '[]',
    updated_at: born,
    ...own,
    ...payeeKeysOf({ account_name: own.account_name ?? order.account_name, payee_id: own.payee_id ?? '' }),
  };
}

export const replies = {
  accepted: (transferId = '481'): AttemptOutcome => ({
    kind: 'accepted',
    transferId,
    status: 'pending',
    httpStatus: 200,
    message: 'ok',
    raw: '{}',
  }),
  refused: (): AttemptOutcome => ({ kind: 'refused', code: '24', httpStatus: 400, message: 'no', raw: '{}' }),
  notSent: (): AttemptOutcome => ({ kind: 'not_sent', message: 'ECONNREFUSED' }),
  turnedAway: (retryAfterMs: number | null = null): AttemptOutcome => ({
    kind: 'turned_away',
    retryAfterMs,
    httpStatus: 429,
    code: '11',
    message: 'slow down',
    raw: '{}',
  }),
  unknown: (): AttemptOutcome => ({
    kind: 'unknown',
    code: null,
    httpStatus: null,
    message: 'no answer',
    raw: '',
    halts: false,
  }),
};

/** Commits intents for up to `limit` payouts of the test mode. */
export function claimAt(
  ledger: Ledger,
  when: string,
  limit = 1,
  workerId = 'w-1',
  brakes: Brakes = noBrakes,
): Promise<Claim[]> {
  return ledger.write(async (trx) => {
    // As if the service had just been asked about all that was sent before, and allowed it (P31).
    const rows = await trx.selectFrom('payouts').select(['id', 'attempt_count']).execute();
    const cleared = new Map(rows.map(({ id, attempt_count }) => [id, attempt_count]));
    return claim(trx, { workerId, limit, at: when, brakes, originId: 0n, cleared });
  });
}

/** Records what an attempt came to. */
export function recordOutcome(
  ledger: Ledger,
  when: string,
  { payoutId, attemptId }: Pick<Claim, 'payoutId' | 'attemptId'>,
  outcome: AttemptOutcome,
) {
  const event = { kind: 'outcome' as const, attemptId, outcome };
  return ledger.write((trx) => record(trx, when, [{ payoutId, source: 'response', event }]));
}

export function payoutById(ledger: Ledger, id: bigint): Promise<Payout> {
  return ledger.db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

/** Reference and state of every payout. */
export async function states(ledger: Ledger): Promise<Record<string, PayoutState>> {
  const rows = await ledger.db.selectFrom('payouts').select(['reference', 'state']).orderBy('id').execute();
  return Object.fromEntries(rows.map((row) => [row.reference, row.state]));
}
