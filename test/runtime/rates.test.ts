import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Ledger, openLedger } from '../../src/ledger/open.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { createRateLimiter, type RateLimiter } from '../../src/runtime/rate-limiter.ts';

/** Stands still; what sleeps is written down as the instant it would wake. */
function standingClock(): Clock & { nowMs: number; wakes: number[] } {
  const clock = {
    nowMs: 1_800_000_000_000,
    wakes: [] as number[],
    now: () => clock.nowMs,
    iso: () => new Date(clock.nowMs).toISOString(),
    monotonic: () => clock.nowMs,
    sleep: async (ms: number) => void clock.wakes.push(clock.nowMs + ms),
  };
  return clock;
}

let dir = '';
let one: Ledger;
let two: Ledger;
let clock = standingClock();
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'counterfoil-rates-'));
  clock = standingClock();
  one = await openLedger(join(dir, 'ledger.db'), { now: clock.iso });
  two = await openLedger(join(dir, 'ledger.db'), { now: clock.iso });
});
afterEach(async () => {
  await Promise.all([one.close(), two.close()]);
  rmSync(dir, { recursive: true, force: true });
});

const limiter = (ledger: Ledger, limit: number, spread: 'even' | 'burst', perMs = 1000): RateLimiter =>
  createRateLimiter({ ledger, clock, name: 'requests', perMs, limit, spread });
const takeAll = (limiters: RateLimiter[], each: number): Promise<unknown> =>
  Promise.all(limiters.flatMap((given) => Array.from({ length: each }, () => given.take())));
const offsets = (): number[] =>
  clock.wakes.map((at) => Math.round(at - clock.nowMs)).toSorted((a, b) => a - b);

describe('limits shared by all connections to a ledger', () => {
  it('spreads starts evenly over two connections', async () => {
    await takeAll([limiter(one, 20, 'even'), limiter(two, 20, 'even')], 10);
    expect(offsets()).toEqual(Array.from({ length: 19 }, (_, index) => (index + 1) * 50));
  });

  it('reserves in blocks above 20 a second and still keeps the rate', async () => {
    await takeAll([limiter(one, 1000, 'even'), limiter(two, 1000, 'even')], 100);
    expect(offsets()).toEqual(Array.from({ length: 199 }, (_, index) => index + 1));
  });

  it('lets a whole limit be spent in one burst, and never more in any window', async () => {
    await takeAll([limiter(one, 6, 'burst', 60_000), limiter(two, 6, 'burst', 60_000)], 4);
    expect(offsets()).toEqual([60_000, 60_000]);
    clock.nowMs += 59_999;
    clock.wakes = [];
    await limiter(one, 6, 'burst', 60_000).take();
    expect(offsets()).toEqual([1]);
  });

  it('waits for nobody when the limit is 0 or the caller stops', async () => {
    await takeAll([limiter(one, 0, 'even')], 50);
    const stop = AbortSignal.abort();
    const slow = limiter(one, 1, 'even', 60_000);
    await Promise.all([slow.take(stop), slow.take(stop)]);
    expect(offsets()).toEqual([]);
  });

  it('forgets reservations of a clock that was set back by hours', async () => {
    await limiter(one, 1, 'even').take();
    clock.nowMs -= 7_200_000;
    await limiter(two, 1, 'even').take();
    expect(offsets()).toEqual([]);
  });
});
