import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { spend } from '../../src/core/ledger/limit-uses.ts';
import { dayAt } from '../../src/sending/daily-limit.ts';
import { dailyUse, openDay } from '../../src/sending/limits.sql.ts';
import { makeLedger } from '../support/ledger.ts';
import { day, hour, limitOf } from './brakes-setting.ts';

const limit = 1000n;
const brakes = limitOf('10.00');
const dayOf = (ms: number): string => dayAt(new Date(ms).toISOString(), brakes.timezone).day;

/** What one process does: what its clocks say, as far from the true time, and which part of the budget it spends. */
type Turn = { afterMs: number; ownMs: number; service: 'right' | 'asleep' | 'silent'; part: bigint };

/** Runs the turns one after another. `spent`: per true day; `shown`: the days that a clock showed. */
async function live(turns: readonly Turn[]) {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const spent = new Map<string, bigint>();
  const shown = new Set<string>();
  let now = Date.parse('2026-11-21T10:00:00.000Z');
  const take = async (own: number, serviceNow: number | null, part: bigint): Promise<bigint> =>
    ledger.write(async (trx) => {
      const ask = { brakes, at: new Date(own).toISOString(), serviceNow };
      const { left, moved } = await dailyUse(trx, ask);
      if (moved) await openDay(trx, ask);
      const amount = ((left.get('NGN') ?? 0n) * part) / 4n;
      if (amount > 0n) await spend(trx, await openDay(trx, ask), [{ currency: 'NGN', amount }]);
      return amount;
    });
  for (const { afterMs, ownMs, service, part } of turns) {
    now += afterMs;
    // The machine slept: its own clock is right, and what it knows of the service's stood still.
    const own = service === 'asleep' ? now : now + ownMs;
    const serviceNow = service === 'silent' ? null : now - (service === 'asleep' ? Math.abs(ownMs) : 0);
    shown.add(dayOf(own));
    const amount = await take(own, serviceNow, part);
    spent.set(dayOf(now), (spent.get(dayOf(now)) ?? 0n) + amount);
  }
  const wholeAfter = [];
  for (let days = 1; days <= 7; days++) wholeAfter.push(await take(now + days * day, null, 4n));
  return { spent, shown, wholeAfter };
}

const part = fc.bigInt({ min: 0n, max: 4n });
const hours = (most: number) => fc.integer({ min: -most, max: most }).map((n) => n * hour);
const anyError = fc.oneof(fc.constant(0), hours(3), hours(100), fc.constantFrom(365 * day, -365 * day));
const awake = fc.record<Turn>({
  afterMs: fc.integer({ min: 0, max: 20 }).map((n) => n * hour),
  ...{ ownMs: anyError, service: fc.constant('right'), part },
});
const asleep = fc.record<Turn>({
  ...{ afterMs: fc.constantFrom(0, hour), ownMs: hours(36), service: fc.constant('asleep'), part },
});
const silent = fc.record<Turn>({
  ...{ afterMs: fc.constant(0), ownMs: anyError, service: fc.constant('silent'), part },
});
const sequence = { minLength: 2, maxLength: 12 };

it('P21, P33: sends no more than a limit in a true day, whatever our clock says, and waits for none to come', async () => {
  const turns = fc.array(fc.oneof({ weight: 4, arbitrary: awake }, asleep), sequence);
  await fc.assert(
    fc.asyncProperty(turns, async (all) => {
      const { spent, wholeAfter } = await live(all);
      for (const sum of spent.values()) expect(sum).toBeLessThanOrEqual(limit);
      expect(wholeAfter.slice(2), 'three days later').toEqual(Array.from({ length: 5 }, () => limit));
    }),
    { numRuns: 60 },
  );
});

it('P21, P33: without the clock of a service, a day that a clock showed has one budget', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(silent, sequence), async (all) => {
      const { spent, shown, wholeAfter } = await live(all);
      const [sum = 0n] = spent.values();
      expect(sum).toBeLessThanOrEqual(limit * BigInt(shown.size));
      expect(wholeAfter.at(-1), 'a week later').toBe(limit);
    }),
    { numRuns: 60 },
  );
});
