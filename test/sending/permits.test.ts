import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/runtime/clock.ts';
import { createPermits } from '../../src/sending/permits.ts';

/** A limit that grants only when it is told to. */
function held(atOnce: number) {
  const waiting: PromiseWithResolvers<void>[] = [];
  return {
    waiting,
    grant: (n: number) => {
      for (const one of waiting.splice(0, n)) one.resolve();
    },
    limiter: {
      atOnce,
      take: () => {
        const one = Promise.withResolvers<void>();
        waiting.push(one);
        return one.promise;
      },
    },
  };
}

const clock: Clock = systemClock();

it('where there is no limit every free slot is used at once, and nothing is asked', () => {
  const { limiter, waiting } = held(Number.POSITIVE_INFINITY);
  const permits = createPermits({ limiter, clock }, undefined);
  expect(permits.fill(16)).toBeUndefined();
  expect(Math.min(16, permits.count())).toBe(16);
  permits.spend(16);
  expect(Math.min(16, permits.count())).toBe(16);
  expect(waiting).toHaveLength(0);
});

it('asks for as many permits at once as one commit reserves, and never for more than are missing', async () => {
  const { limiter, waiting, grant } = held(5);
  const permits = createPermits({ limiter, clock }, undefined);
  const filling = permits.fill(8);
  expect(waiting).toHaveLength(5);
  expect(permits.fill(8)).toBe(filling);
  expect(waiting).toHaveLength(5);
  grant(5);
  await filling;
  expect(permits.count()).toBe(5);
  expect(permits.fill(5)).toBeUndefined();
  void permits.fill(8);
  expect(waiting).toHaveLength(3);
});

it('goes on with the permits that are there, and counts those that come later', async () => {
  const { limiter, waiting, grant } = held(4);
  const permits = createPermits({ limiter, clock }, undefined);
  const filling = permits.fill(4);
  grant(1);
  await filling;
  expect(permits.count()).toBe(1);
  permits.spend(1);
  const again = permits.fill(4);
  expect(waiting).toHaveLength(4);
  grant(4);
  await again;
  expect(permits.count()).toBe(4);
});

it('P12: tells the sender that the ledger failed, also when nobody waits for the permit any more', async () => {
  const error = new Error('disk I/O error');
  const limiter = { atOnce: 1, take: () => Promise.reject(error) };
  const permits = createPermits({ limiter, clock }, undefined);
  await permits.fill(1);
  expect(permits.count()).toBe(0);
  expect(() => permits.fill(1)).toThrow(error);
});
