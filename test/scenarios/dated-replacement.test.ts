import { expect, it } from 'vitest';
import { csv, flat, row } from '../support/cli.ts';
import { makeHome, stateOf } from '../support/decided.ts';
import { shiftedClock } from '../support/shifted-clock.ts';

const dayMs = 86_400_000;
const settings = { COUNTERFOIL_SUBMISSION_TIMEZONE: 'UTC', COUNTERFOIL_RECEIVER_ENABLED: 'false' };
const inDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

it.each([
  ['failed.csv', 'PAY-0001-R2', /PAY-0001-R2: PAY-0001, which it pays again, is now success/],
  ['second.csv', 'PAY-0009', /row 2 has the account, currency and amount of PAY-0001 in batch pay-/],
] as const)(
  'P14, P20, P23, P38: a refused payout paid again by %s on a later day is not paid twice when it turns out paid',
  async (name, reference, why) => {
    let serviceMs = 0;
    const faults = { 'PAY-0001': 'refuse_24' } as const;
    const home = await makeHome({ faults, settleMs: 1, now: () => Date.now() + serviceMs }, settings);
    const { batches } = await home.json(['submit', home.put('pay.csv', csv(row(1), row(2)))], 0);
    await home.sandbox.settleAll();
    await home.json(['reconcile'], 0);
    const text = {
      'failed.csv': () => home.read(`data/reports/${batches[0].batch}/failed.csv`),
      'second.csv': () => csv(row(1).replace('PAY-0001', reference)),
    };
    const later = await home.json(['submit', home.put(name, text[name]()), '--pay-on', inDays(2)], 0);
    expect(later.batches).toMatchObject([{ state: 'ready', payouts: { ready: 1 } }]);
    const { book } = home.sandbox;
    const own = { reference: 'PAY-0001', amount: '1001.50', account_number: '1000000001' };
    book.plant({ ...book.find('PAY-0002')[0], id: 990_001, trx: 'TRX990001', ...own });
    await home.json(['reconcile'], 4);
    expect(await stateOf(home, 'PAY-0001')).toBe('success');
    // Long before the day.
    await home.run(['submit']);
    const { code, out } = await home.run(['status']);
    expect([code, flat(out)]).toEqual([4, expect.stringMatching(why)]);
    const clock = shiftedClock();
    clock.shift(2 * dayMs);
    serviceMs = 2 * dayMs;
    await home.start(['submit'], clock.env).done;
    expect(home.sandbox.requests.bodies(reference)).toBe(0);
    await home.json(['cancel', reference, '--yes'], 0);
    expect(await stateOf(home, reference)).toBe('cancelled');
  },
);
