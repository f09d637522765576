import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pruneUnmatched, unmatchedIds } from '../../../src/watching/webhooks/prune-unmatched.sql.ts';
import { webhookCounts } from '../../../src/watching/webhooks/webhooks.sql.ts';
import { addBatch, at, born, claimAt, makeLedger, type TestLedger } from '../../support/ledger.ts';
import { onPostgres } from '../../support/on-postgres/standing.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const dayMs = 24 * 60 * 60_000;
const nowMs = Date.parse(born);
/** `days` before the ledger's birth. */
const ago = (days: number): string => at(-days * dayMs);

async function heard(reference: string, days: number, more: { payout_id?: bigint; applied_at?: null } = {}) {
  const at = ago(days);
  await ledger.db
    .insertInto('webhooks')
    .values({
      digest: `${reference} ${days}`,
      received_at: at,
      last_received_at: at,
      deliveries: 2n,
      kind: 'payout',
      reference,
      trx: null,
      headers: '{}',
      body: Buffer.from('{"status":"success"}'),
      stale: 0n,
      applied_at: at,
      verdict: 'unmatched',
      ...more,
    })
    .execute();
}

const left = async (): Promise<(string | null)[]> =>
  (await ledger.db.selectFrom('webhooks').select('reference').orderBy('id').execute()).map(
    (row) => row.reference,
  );

it('keeps the newest webhooks of strangers whole, of older ones the reference, and counts them all', async () => {
  await addBatch(ledger, ['OURS']);
  await ledger.db.updateTable('payouts').set({ state: 'success' }).execute();
  await heard('OURS', 90, { payout_id: 1n });
  await heard('Waiting', 90, { applied_at: null });
  for (let n = 0; n < 1_500; n++) await heard(`Theirs-${n}`, 60);
  await heard('not a reference of ours!', 60);
  await heard('Recent', 3);
  await heard('Old-but-newest', 60);
  const before = await webhookCounts(ledger.db);
  expect(await pruneUnmatched(ledger, nowMs, { rows: 1, days: 35 })).toBe(1_501);
  expect(await left()).toEqual(['OURS', 'Waiting', 'Recent', 'Old-but-newest']);
  expect(await webhookCounts(ledger.db)).toEqual({ ...before, strangers: 1_501 });
  const names = await ledger.db.selectFrom('unmatched_references').select('reference_key').execute();
  expect(names).toHaveLength(1_500);
  expect(names[0]).toEqual({ reference_key: 'theirs-0' });
  expect(await pruneUnmatched(ledger, nowMs, { rows: 1, days: 35 })).toBe(0);
});

it.skipIf(onPostgres)('looks for strangers in their own index, and not among all webhooks', async () => {
  const plan = await unmatchedIds(ledger.db)
    .limit(1)
    .offset(9_999)
    .explain<{ detail: string }>(undefined, sql`query plan`);
  expect(plan[0]?.detail).toMatch(/USING INDEX webhooks_unmatched/);
});

it('P22: a payout whose reference a deleted webhook named is not sent before the service was asked', async () => {
  await heard('R-1', 60);
  await heard('Last', 60);
  await pruneUnmatched(ledger, nowMs, { rows: 1, days: 35 });
  expect(await left()).toEqual(['Last']);
  await addBatch(ledger, ['r-1', 'R-2']);
  // The first turn sends nothing where it withholds one.
  const claims = [...(await claimAt(ledger, at(1))), ...(await claimAt(ledger, at(2)))];
  expect(claims).toHaveLength(1);
  const states = await ledger.db
    .selectFrom('payouts')
    .select(['reference', 'state', 'withheld_by'])
    .orderBy('id')
    .execute();
  expect(states).toEqual([
    { reference: 'r-1', state: 'held', withheld_by: 'webhook' },
    { reference: 'R-2', state: 'sending', withheld_by: null },
  ]);
});

it('P16: deletes none that came since the oldest unfinished payout was sent', async () => {
  await addBatch(ledger, ['R-1']);
  await ledger.db
    .updateTable('payouts')
    .set({ submitted_at: ago(70), state: 'unknown' })
    .execute();
  await heard('Before', 80);
  await heard('After', 60);
  await heard('Last', 1);
  expect(await pruneUnmatched(ledger, nowMs, { rows: 1, days: 35 })).toBe(1);
  expect(await left()).toEqual(['After', 'Last']);
});
