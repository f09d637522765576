import { describe, expect, it } from 'vitest';
import { barrierKeys } from '../../src/core/ledger/barriers.ts';
import { holdReasonsOf } from '../../src/core/ledger/hold-reasons.ts';
import { dropMeta } from '../../src/core/ledger/meta.ts';
import { record } from '../../src/core/ledger/record.ts';
import { adoptLedger } from '../../src/custody/adopt.ts';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { abandonClaims, claim } from '../../src/sending/claims.sql.ts';
import { releaseBatch } from '../../src/sending/holds.sql.ts';
import { dailyUse } from '../../src/sending/limits.sql.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { messageText } from '../../src/words/plain-words.ts';
import { addBatch, at, claimAt, recordOutcome, replies, states, type TestLedger } from '../support/ledger.ts';
import { braked, day, hour, limitOf, named } from './brakes-setting.ts';

describe('P21: a daily limit', () => {
  it('lets go what fits and keeps the rest until the next day of its time zone', async () => {
    const { ledger, claimUnder, left } = await braked();
    await addBatch(ledger, named('A', 4));
    const brakes = limitOf('3000.00');
    expect(await left(brakes, 0)).toBe(4);
    expect(await claimUnder(brakes, 0)).toEqual(['A-1', 'A-2']);
    expect(await left(brakes, 1), 'nothing keeps the sender waiting').toBe(0);
    expect(await claimUnder(brakes, 13 * hour - 1)).toEqual([]);
    // Lagos is an hour ahead: 10:00 UTC and thirteen hours are its midnight.
    expect(await claimUnder(brakes, 13 * hour)).toEqual(['A-3', 'A-4']);
  });

  it('gives an amount back once it is proven not sent, and never for an outcome that is not known', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 5));
    const brakes = limitOf('3000.00');
    const [first, second] = await claimAt(ledger, at(0), 2, 'w-1', brakes);
    if (!first || !second) throw new Error('not claimed');
    await recordOutcome(ledger, at(1), first, replies.unknown());
    await recordOutcome(ledger, at(1), second, replies.refused());
    expect(await claimUnder(brakes, 2)).toEqual(['A-3']);
    await recordOutcome(ledger, at(3), first, replies.notSent());
    // A late word is heard once.
    await recordOutcome(ledger, at(3), first, replies.notSent());
    expect(await claimUnder(brakes, 4)).toEqual(['A-1']);
    expect(await claimUnder(brakes, 5)).toEqual([]);
  });

  it('keeps counting what a process that died may have sent', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 3));
    const brakes = limitOf('3000.00');
    await claimUnder(brakes, 0, 2);
    await ledger.write((trx) => abandonClaims(trx, 'w-1', at(1)));
    expect(await claimUnder(brakes, 2)).toEqual([]);
  });

  it('gives no second budget to a clock that was set back, nor after it runs on again', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 6));
    const brakes = limitOf('3000.00');
    expect(await claimUnder(brakes, 0)).toHaveLength(2);
    expect(await claimUnder(brakes, -day), 'yesterday again').toEqual([]);
    expect(await claimUnder(brakes, 60_000)).toEqual([]);
    expect(await claimUnder(brakes, day)).toHaveLength(2);
  });

  it.each([
    ['Pacific/Auckland', 11 * hour],
    ['Pacific/Kiritimati', 0],
    ['America/Los_Angeles', 13 * hour - 1],
    ['UTC', 13 * hour - 1],
    ['UTC', 13 * hour],
  ])(
    'P33: opens no second budget when submission.timezone becomes %s in the middle of a day',
    async (zone, ms) => {
      const { ledger, claimUnder } = await braked();
      await addBatch(ledger, named('A', 9));
      const lagos = limitOf('3000.00');
      const elsewhere = { ...lagos, timezone: zone };
      expect(await claimUnder(lagos, 0)).toHaveLength(2);
      expect(await claimUnder(elsewhere, ms), 'the same day, as instants').toEqual([]);
      expect(await claimUnder(lagos, Math.min(ms + 1, 13 * hour - 1)), 'and back').toEqual([]);
      expect(await claimUnder(elsewhere, ms + 1)).toEqual([]);
      expect(await claimUnder(elsewhere, 2 * day)).toHaveLength(2);
      expect(await claimUnder(elsewhere, 2 * day + 1)).toEqual([]);
    },
  );

  it('does not wait a year for a clock that was a year ahead', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 8));
    const brakes = limitOf('3000.00');
    expect(await claimUnder(brakes, 365 * day)).toHaveLength(2);
    expect(await claimUnder(brakes, 0), 'what went then counts for today').toEqual([]);
    expect(await claimUnder(brakes, day)).toHaveLength(2);
  });

  it('P33: gives no second budget to a clock that is a year ahead again and again', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 9));
    const brakes = limitOf('3000.00');
    const brake = (ms: number) => createBrakes({ ledger, clock: { iso: () => at(ms) }, brakes }).settle();
    expect(await claimUnder(brakes, 365 * day)).toEqual(['A-1', 'A-2']);
    await brake(1);
    expect(await claimUnder(brakes, 365 * day + 2), 'the wrong day was spent').toEqual([]);
    expect(await claimUnder(brakes, 3), 'so was the right one').toEqual([]);
    expect(await claimUnder(brakes, day), 'and no other').toEqual(['A-3', 'A-4']);
    expect(await claimUnder(brakes, 365 * day + 4)).toEqual([]);
    expect(await claimUnder(brakes, day + 5)).toEqual([]);
  });

  it('P33: gives no second budget to a clock that is a day ahead and then days behind', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 6));
    const brakes = limitOf('3000.00');
    expect(await claimUnder(brakes, day)).toHaveLength(2);
    expect(await claimUnder(brakes, 0), 'set right').toEqual([]);
    expect(await claimUnder(brakes, -2 * day), 'days behind').toEqual([]);
    expect(await claimUnder(brakes, 1), 'set right again').toEqual([]);
    expect(await claimUnder(brakes, day)).toEqual([]);
    expect(await claimUnder(brakes, 2 * day), 'the day after the one that was spent').toHaveLength(2);
  });

  it('P33: counts what went while a clock was days behind once it is set right', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 6));
    const brakes = limitOf('4500.00');
    expect(await claimUnder(brakes, 0, 1)).toEqual(['A-1']);
    expect(await claimUnder(brakes, -2 * day), 'the rest of the day').toEqual(['A-2', 'A-3']);
    expect(await claimUnder(brakes, 1)).toEqual([]);
    expect(await claimUnder(brakes, day)).toHaveLength(3);
  });

  it('counts what went before a limit was set', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 4));
    await claimUnder(noBrakes, 0, 2);
    expect(await claimUnder({ ...limitOf('4500.00'), timezone: 'UTC' }, 1)).toEqual(['A-3']);
  });

  it('P25: counts all that an adoption made unknown as spent, until the next day of its zone', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 3));
    await addBatch(ledger, ['Z-1'], { id: 'b-z', currency: 'ZAR' });
    const brakes = { ...limitOf('6000.00'), dailyLimit: { NGN: '6000.00', ZAR: '3000.00' } };
    const used = async (ms: number): Promise<Record<string, bigint>> =>
      Object.fromEntries((await dailyUse(ledger.db, { brakes, at: at(ms) })).used);
    await adoptLedger(ledger, () => at(1000));
    await ledger.write((trx) => dropMeta(trx, [barrierKeys.listing]));
    expect(await used(2000)).toEqual({ NGN: 450_000n, ZAR: 150_000n });
    await addBatch(ledger, named('B', 3), { id: 'b-2' });
    await addBatch(ledger, named('Y', 2), { id: 'b-y', currency: 'ZAR' });
    expect(await claimUnder(brakes, 3000), 'three times 1500.00 may be gone').toEqual(['B-1', 'Y-1']);
    expect(await claimUnder(brakes, 13 * hour - 1)).toEqual([]);
    expect(await claimUnder(brakes, 13 * hour)).toEqual(['B-2', 'B-3', 'Y-2']);
  });

  it('P25: an adoption that goes on after a crash counts nothing twice', async () => {
    const { ledger } = await braked();
    await addBatch(ledger, named('A', 3));
    const crash = (): string => {
      throw new Error('killed');
    };
    await expect(adoptLedger(ledger, () => at(1000), crash)).rejects.toThrow('killed');
    await adoptLedger(ledger, () => at(2000));
    const { used } = await dailyUse(ledger.db, { brakes: limitOf('1.00'), at: at(3000) });
    expect(used.get('NGN')).toBe(450_000n);
  });

  it('keeps no other currency back, in the same batch or behind it', async () => {
    const { ledger, claimUnder } = await braked();
    const ids = await addBatch(ledger, named('A', 3));
    await ledger.write((trx) =>
      trx
        .updateTable('payouts')
        .set({ currency: 'ZAR' })
        .where('id', '=', ids[2] ?? 0n)
        .execute(),
    );
    await addBatch(ledger, ['B-1'], { id: 'b-2', currency: 'ZAR' });
    expect(await claimUnder(limitOf('1500.00'), 0)).toEqual(['A-1', 'A-3', 'B-1']);
    expect(await claimUnder(limitOf('1500.00'), 1)).toEqual([]);
  });

  it('holds what not even a whole day lets go, with the reason, and lets the others go', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, ['BIG-1'], { amount: 400_000n });
    await addBatch(ledger, ['B-1'], { id: 'b-2' });
    const brakes = limitOf('3000.00');
    expect(await claimUnder(brakes, 0)).toEqual(['B-1']);
    expect(await states(ledger)).toMatchObject({ 'BIG-1': 'held' });
    const big = ledger.db.selectFrom('payouts').selectAll().where('reference', '=', 'BIG-1');
    expect(messageText(await big.executeTakeFirstOrThrow())).toMatch(
      /NGN 4000\.00 is more than .* whole day, NGN 3000\.00; raise the limit .*counterfoil cancel BIG-1$/,
    );
    const request = { batch: 'b-1', at: at(1) };
    expect(await releaseBatch(ledger, { ...request, dailyLimit: brakes.dailyLimit })).toMatchObject({
      kept: 1,
    });
    expect(await releaseBatch(ledger, { ...request, dailyLimit: { NGN: '4000.00' } })).toMatchObject({
      moved: 1,
    });
    expect(await claimUnder(limitOf('4000.00'), day)).toEqual(['BIG-1']);
  });

  it('says what waits, how much of the day is used, and until when', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 3));
    const brakes = limitOf('3000.00');
    await claimUnder(brakes, 0);
    const seen = createBrakes({ ledger, clock: { iso: () => at(1) }, brakes });
    const until = '2026-11-21T23:00:00.000Z';
    expect(await seen.waits()).toEqual([
      { kind: 'daily_limit', currency: 'NGN', count: 1, amount: '1500.00', until },
    ]);
    expect(await seen.daily()).toEqual([
      { currency: 'NGN', day: '2026-11-21', limit: '3000.00', used: '3000.00', left: '0.00', until },
    ]);
  });
});

describe("P2: today's limit of a payout", () => {
  const above = (ngn: string): Brakes => ({ ...noBrakes, payoutLimit: { NGN: ngn } });
  const reasonsOf = async (ledger: TestLedger, batch: string) =>
    (await holdReasonsOf(ledger.db, batch)).reasons;

  it('holds a batch that was taken in before it, until a person lets it go, and keeps no other back', async () => {
    const { ledger, claimUnder } = await braked();
    const batch = 'b-1';
    await addBatch(ledger, named('A', 3));
    await addBatch(ledger, named('B', 1), { id: 'b-2', amount: 90_000n });
    expect(await claimUnder(above('1500.00'), 0, 1), 'at the limit').toEqual(['A-1']);
    expect(await claimUnder(above('1499.99'), 1)).toEqual(['B-1']);
    expect(await reasonsOf(ledger, batch)).toMatchObject([
      { kind: 'payout_limit', count: 2, first: [{ row: 3, currency: 'NGN', amount: '1500.00' }, { row: 4 }] },
    ]);
    await createBrakes({ ledger, clock: { iso: () => at(2) }, brakes: above('1499.99') }).settle();
    expect(await claimUnder(above('1499.99'), 2)).toEqual([]);
    await releaseBatch(ledger, { batch, at: at(3) });
    expect(await claimUnder(above('1499.99'), 4)).toEqual(['A-2', 'A-3']);
  });

  it('lets go what a person released before the hold had reached the rows', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 2));
    expect(await claimUnder(above('999.99'), 0)).toEqual([]);
    const released = await releaseBatch(ledger, { batch: 'b-1', at: at(1) });
    expect(released).toMatchObject({ moved: 2, kept: 0 });
    expect(await claimUnder(above('999.99'), 2)).toEqual(['A-1', 'A-2']);
  });

  it.each([true, false])(
    'counts an order to send again as that where a person gave it (automatic: %s)',
    async (automatic) => {
      const { ledger, claimUnder } = await braked();
      const [id = 0n] = await addBatch(ledger, ['A']);
      const [claimed] = await claimAt(ledger, at(0), 1, 'w-1', above('1500.00'));
      if (!claimed) throw new Error('not claimed');
      await recordOutcome(ledger, at(1), claimed, replies.unknown());
      const event = { kind: 'retry', to: 'ready', automatic, why: 'absent' } as const;
      const source = automatic ? 'confirmed_absent' : 'person:ada';
      await ledger.write((trx) => record(trx, at(2), [{ payoutId: id, source, event }]));
      const cleared = new Map([[id, 1n]]);
      const request = {
        brakes: above('1000.00'),
        at: at(3),
        workerId: 'w-1',
        limit: 1,
        originId: 1n,
        cleared,
      };
      const claims = await ledger.write((trx) => claim(trx, request));
      expect(claims).toHaveLength(automatic ? 0 : 1);
      expect(await claimUnder(above('1000.00'), 4)).toEqual([]);
    },
  );
});
