import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/core/runtime/clock.ts';
import {
  createRateLimiter,
  createThrottle,
  type RateLimiter,
  type Throttle,
} from '../../../src/core/runtime/rate-limiter.ts';
import type { Ledger } from '../../../src/core/storage/ledger.ts';
import { openLedger } from '../../../src/custody/open-ledger.ts';
import { openNewLedger } from '../../support/new-ledger.ts';

/** Stands still, its monotonic clock too; what sleeps is written down as the wall's instant when it would wake. */
function standingClock(): Clock & { nowMs: number; wakes: number[] } {
  const clock = {
    nowMs: 1_800_000_000_000,
    wakes: [] as number[],
    now: () => clock.nowMs,
    iso: () => new Date(clock.nowMs).toISOString(),
    monotonic: () => 0,
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
  one = await openNewLedger(join(dir, 'ledger.db'), { now: clock.iso });
  two = await openLedger(join(dir, 'ledger.db'), { now: clock.iso });
});
afterEach(async () => {
  await Promise.all([one.close(), two.close()]);
  rmSync(dir, { recursive: true, force: true });
});

const limiter = (ledger: Ledger, limit: number, perMs = 1000): RateLimiter =>
  createRateLimiter({ ledger, clock, name: 'requests', perMs, limit });
const throttle = (ledger: Ledger, limit: number): Throttle =>
  createThrottle({ ledger, clock, name: 'resends', perMs: 60_000, limit });
const takeAll = (limiters: RateLimiter[], each: number): Promise<unknown> =>
  Promise.all(limiters.flatMap((given) => Array.from({ length: each }, () => given.take())));
const offsets = (): number[] =>
  clock.wakes.map((at) => Math.round(at - clock.nowMs)).toSorted((a, b) => a - b);

describe('limits shared by all connections to a ledger', () => {
  it('spreads starts evenly over two connections', async () => {
    await takeAll([limiter(one, 20), limiter(two, 20)], 10);
    expect(offsets()).toEqual(Array.from({ length: 19 }, (_, index) => (index + 1) * 50));
  });

  it('reserves in blocks above 20 a second and still keeps the rate', async () => {
    await takeAll([limiter(one, 1000), limiter(two, 1000)], 100);
    expect(offsets()).toEqual(Array.from({ length: 199 }, (_, index) => index + 1));
  });

  it('lets a whole limit be spent in one burst, and never more in any window', async () => {
    const both = [throttle(one, 6), throttle(two, 6)];
    const waits = [];
    for (let n = 0; n < 4; n++) for (const each of both) waits.push(await each.tryTake());
    expect(waits).toEqual([0, 0, 0, 0, 0, 0, 60_000, 60_000]);
    clock.nowMs += 59_999;
    expect(await throttle(one, 6).tryTake()).toBe(1);
  });

  it('waits for nobody when the limit is 0 or the caller stops', async () => {
    await takeAll([limiter(one, 0)], 50);
    const stop = AbortSignal.abort();
    const slow = limiter(one, 1, 60_000);
    await Promise.all([slow.take(stop), slow.take(stop)]);
    expect(offsets()).toEqual([]);
  });
});

const hour = 3_600_000;

describe('a wall clock that was set back (P33)', () => {
  it.each([
    ['ten seconds', 10_000],
    ['half an hour', hour / 2],
    ['a year', 365 * 24 * hour],
  ])('by %s makes a start wait no longer than it did before', async (_, backMs) => {
    for (let n = 0; n < 3; n++) await limiter(one, 1).take();
    expect(offsets()).toEqual([1000, 2000]);
    clock.nowMs -= backMs;
    clock.wakes = [];
    for (let n = 0; n < 2; n++) await limiter(two, 1).take();
    expect(offsets()).toEqual([3000, 4000]);
  });

  it('while a caller waits for its start prolongs nothing', async () => {
    const steps: Clock = { ...clock };
    steps.now = () => {
      clock.nowMs -= hour;
      return clock.nowMs;
    };
    const own = createRateLimiter({ ledger: one, clock: steps, name: 'requests', perMs: 1000, limit: 1 });
    const waits: number[] = [];
    steps.sleep = async (ms) => void waits.push(ms);
    for (let n = 0; n < 3; n++) await own.take();
    expect(waits).toEqual([1000, 2000]);
  });

  it('keeps resends of a minute back for a minute, not for the hour', async () => {
    for (let n = 0; n < 2; n++) expect(await throttle(one, 2).tryTake()).toBe(0);
    clock.nowMs -= hour;
    expect(await throttle(two, 2).tryTake()).toBe(60_000);
    clock.nowMs += 60_000;
    expect(await throttle(one, 2).tryTake()).toBe(0);
  });

  it('or forward opens no more than the rate from then on', async () => {
    for (let n = 0; n < 3; n++) await limiter(one, 1).take();
    clock.nowMs += hour;
    clock.wakes = [];
    for (let n = 0; n < 3; n++) await limiter(two, 1).take();
    expect(offsets()).toEqual([1000, 2000]);
  });
});
