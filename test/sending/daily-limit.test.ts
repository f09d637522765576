import { describe, expect, it } from 'vitest';
import { admit, dayAt, dayInForce, leftOf, limitsOf, whyTooLarge } from '../../src/sending/daily-limit.ts';

describe('P21: the day of a limit', () => {
  it('is that of its time zone', () => {
    const lagos = (at: string) => dayAt(at, 'Africa/Lagos');
    expect(lagos('2026-11-21T22:59:59.999Z').day).toBe('2026-11-21');
    expect(lagos('2026-11-21T23:00:00.000Z')).toMatchObject({
      day: '2026-11-22',
      beginsAt: '2026-11-21T23:00:00.000Z',
      endsAt: '2026-11-22T23:00:00.000Z',
    });
    expect(dayAt('2026-11-21T23:00:00.000Z', 'UTC').day).toBe('2026-11-21');
  });

  it('has 23 or 25 hours where clocks change, and begins after midnight where they skip it', () => {
    const noon = (day: string, zone: string) => dayAt(`${day}T12:00:00.000Z`, zone);
    const hours = (day: string, zone: string): number => {
      const { beginsAt, endsAt } = noon(day, zone);
      return (Date.parse(endsAt) - Date.parse(beginsAt)) / 3_600_000;
    };
    expect([hours('2026-03-29', 'Europe/Berlin'), hours('2026-10-25', 'Europe/Berlin')]).toEqual([23, 25]);
    expect(noon('2026-04-24', 'Africa/Cairo').beginsAt).toBe('2026-04-23T22:00:00.000Z');
    expect(noon('2026-04-23', 'Africa/Cairo').endsAt).toBe('2026-04-23T22:00:00.000Z');
  });

  it('stays where the clock was set back, and moves back only from a day far ahead', () => {
    const [today, next, year] = ['2026-11-21', '2026-11-22', '2027-11-21'].map((day) =>
      dayAt(`${day}T12:00:00.000Z`, 'Africa/Lagos'),
    );
    if (!today || !next || !year) throw new Error('no day');
    expect(dayInForce(null, today)).toEqual({ kind: 'new', day: today });
    expect(dayInForce(today, today)).toEqual({ kind: 'same', day: today });
    expect(dayInForce(today, next)).toEqual({ kind: 'new', day: next });
    expect(dayInForce(next, today)).toEqual({ kind: 'same', day: next });
    expect(dayInForce(year, today)).toEqual({ kind: 'moved', day: today });
  });
});

describe('P21: what goes over a daily limit', () => {
  const order = (amount: bigint, currency = 'NGN', batch_id = 'b') => ({ amount, currency, batch_id });

  it('waits together with what follows it in its batch, other batches and currencies go on', () => {
    const left = new Map([['NGN', 100n]]);
    const orders = [order(60n), order(50n), order(10n), order(30n, 'NGN', 'c'), order(999n, 'ZAR')];
    const { admitted, left: rest } = admit(orders, left);
    expect(admitted).toEqual([orders[0], orders[3], orders[4]]);
    expect(rest.get('NGN')).toBe(10n);
    expect(left.get('NGN'), 'the argument is left alone').toBe(100n);
  });

  it('never becomes more than the limit, however much was used before it was lowered', () => {
    expect(leftOf(new Map([['NGN', 5n]]), new Map([['NGN', 9n]])).get('NGN')).toBe(0n);
  });

  it('is told from what no day ever allows', () => {
    const limits = limitsOf({ NGN: '1.00' });
    expect(whyTooLarge(order(100n), limits)).toBeNull();
    expect(whyTooLarge(order(101n), limits)).toMatch(/^NGN 1\.01 is more than .* whole day, NGN 1\.00$/);
    expect(whyTooLarge(order(101n, 'ZAR'), limits)).toBeNull();
  });
});
