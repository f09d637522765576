import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { claim, sendable } from '../../src/sending/claims.sql.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { addBatch, at, recordOutcome, replies, type TestLedger } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { braked, day, hour, limitOf, named, say } from './brakes-setting.ts';

// `at(0)` is 10:00 UTC on 21 November 2026. Lagos is an hour ahead: 13 hours later is its midnight.
const lagos: Brakes = { ...noBrakes, timezone: 'Africa/Lagos' };
const friday = '2026-11-27';
const beginsMs = 13 * hour + 5 * day;

/** References claimed where the service's clock says `serviceMs`; undefined: it sends no `Date`. */
async function claimedAt(
  ledger: TestLedger,
  { ms, serviceMs, brakes = lagos }: { ms: number; serviceMs?: number | 'unheard'; brakes?: Brakes },
): Promise<string[]> {
  const serviceNow =
    serviceMs === 'unheard' ? undefined : serviceMs === undefined ? null : Date.parse(at(serviceMs));
  const request = {
    workerId: 'w-1',
    limit: 10,
    at: at(ms),
    brakes,
    originId: 0n,
    cleared: new Map(),
    serviceNow,
  };
  const claims = await ledger.write((trx) => claim(trx, request));
  return claims.map(({ reference }) => reference);
}

/** One batch whose payouts have several days; a file could say so. */
async function redate(ledger: TestLedger, payOn: string, references: string[]): Promise<void> {
  await sql`drop trigger payouts_pay_on_frozen ${sql.raw(onPostgres ? 'on payouts' : '')}`.execute(ledger.db);
  await ledger.db
    .updateTable('payouts')
    .set({ pay_on: payOn })
    .where('reference', 'in', references)
    .execute();
}

describe('P38: a day of payment', () => {
  it('is frozen at intake', async () => {
    const { ledger } = await braked();
    await addBatch(ledger, named('A', 1), { pay_on: friday });
    const earlier = ledger.db.updateTable('payouts').set({ pay_on: '' }).execute();
    await expect(earlier).rejects.toThrow('the day of payment is frozen at intake');
  });

  it('keeps a payout until its day begins in the time zone, and nothing else with it', async () => {
    const { ledger } = await braked();
    await addBatch(ledger, named('A', 2), { pay_on: friday });
    await addBatch(ledger, named('B', 2), { id: 'b-2' });
    expect(await claimedAt(ledger, { ms: 0 })).toEqual(['B-1', 'B-2']);
    expect(await claimedAt(ledger, { ms: beginsMs - 1 })).toEqual([]);
    expect(await claimedAt(ledger, { ms: beginsMs })).toEqual(['A-1', 'A-2']);
  });

  it('P38: waits where our clock stepped forward and the service says an earlier day, and goes when both agree', async () => {
    const { ledger } = await braked();
    await addBatch(ledger, named('A', 1), { pay_on: friday });
    expect(await claimedAt(ledger, { ms: 40 * day, serviceMs: 0 })).toEqual([]);
    expect(await claimedAt(ledger, { ms: 0, serviceMs: 40 * day }), 'ours has not come either').toEqual([]);
    expect(await claimedAt(ledger, { ms: beginsMs, serviceMs: beginsMs - 1 })).toEqual([]);
    expect(await claimedAt(ledger, { ms: beginsMs, serviceMs: 'unheard' }), 'it has not answered').toEqual(
      [],
    );
    expect(await claimedAt(ledger, { ms: beginsMs, serviceMs: beginsMs })).toEqual(['A-1']);
  });

  it('says what waits until when, and that the clocks differ', async () => {
    const { ledger } = await braked();
    await addBatch(ledger, named('A', 3), { pay_on: friday });
    const seen = (ms: number, serviceMs: number | null) =>
      createBrakes({
        ledger,
        clock: { iso: () => at(ms) },
        brakes: lagos,
        serviceNow: () => (serviceMs === null ? null : Date.parse(at(serviceMs))),
      });
    const what = { kind: 'date', day: friday, batch: 'b-1', currency: 'NGN', count: 3, amount: '4500.00' };
    expect(await seen(0, null).waits()).toEqual([{ ...what, clock: null }]);
    expect(await seen(beginsMs, 0).waits()).toEqual([{ ...what, clock: 'earlier' }]);
    expect(await seen(beginsMs, 0).clocksDiffer()).toBe(true);
    expect(await seen(0, null).clocksDiffer()).toBe(false);
    expect(await seen(beginsMs, null).waits()).toEqual([]);
  });

  it('is no work that the sender waits for', async () => {
    const { ledger } = await braked();
    await addBatch(ledger, named('A', 2), { pay_on: friday });
    expect((await sendable(ledger.db, { brakes: lagos, at: at(0) })).ready).toBe(0);
    expect((await sendable(ledger.db, { brakes: lagos, at: at(beginsMs) })).ready).toBe(2);
    const unsure = { brakes: lagos, at: at(beginsMs), serviceNow: Date.parse(at(0)) };
    expect((await sendable(ledger.db, unsure)).ready).toBe(0);
  });

  it('counts against the limit of the day on which it goes', async () => {
    const { ledger } = await braked();
    const brakes = limitOf('3000.00');
    await addBatch(ledger, named('A', 3), { pay_on: '2026-11-22' });
    await addBatch(ledger, named('B', 2), { id: 'b-2' });
    expect(await claimedAt(ledger, { ms: 0, brakes })).toEqual(['B-1', 'B-2']);
    expect(await claimedAt(ledger, { ms: 13 * hour, brakes })).toEqual(['A-1', 'A-2']);
    expect(await claimedAt(ledger, { ms: 13 * hour + day, brakes })).toEqual(['A-3']);
  });

  it('P21: is no canary that does not settle: one is made of what may go, and the rest goes on its day', async () => {
    const { ledger } = await braked();
    const brakes: Brakes = { ...lagos, canary: 2, canaryHours: 4 };
    await addBatch(ledger, named('A', 6));
    await redate(ledger, friday, ['A-1', 'A-3', 'A-6']);
    expect(await claimedAt(ledger, { ms: 0, brakes }), 'of what may go today').toEqual(['A-2', 'A-4']);
    for (const { id, payout_id } of await ledger.db.selectFrom('attempts').selectAll().execute())
      await recordOutcome(ledger, at(1), { payoutId: payout_id, attemptId: id }, replies.accepted(`${id}`));
    expect(await claimedAt(ledger, { ms: 2, brakes }), 'behind the canary').toEqual([]);
    await say(ledger, 'A-2', 'success', 3);
    await say(ledger, 'A-4', 'success', 3);
    expect(await claimedAt(ledger, { ms: 5 * hour, brakes })).toEqual(['A-5']);
    expect(await haltInWords(ledger.db)).toBeUndefined();
    expect(await claimedAt(ledger, { ms: beginsMs, brakes })).toEqual(['A-1', 'A-3', 'A-6']);
  });

  it('P21: begins no canary before its day, and waits for one that is smaller than it may be', async () => {
    const { ledger } = await braked();
    const brakes: Brakes = { ...lagos, canary: 2, canaryHours: 4 };
    await addBatch(ledger, named('A', 3), { pay_on: friday });
    await redate(ledger, '', ['A-3']);
    expect(await claimedAt(ledger, { ms: 0, brakes })).toEqual(['A-3']);
    expect(await claimedAt(ledger, { ms: beginsMs, brakes }), 'A-3 has not settled').toEqual([]);
  });
});
