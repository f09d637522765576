import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../src/core/runtime/clock.ts';
import { createRateLimiter, createThrottle } from '../../../src/core/runtime/rate-limiter.ts';
import { openLedger } from '../../../src/custody/open-ledger.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const server: PostgresServer | null = await startPostgres({ fsync: 'on' });
afterAll(() => server?.stop());

/** A machine whose clock is off by so many milliseconds; what it waits is written down and not waited for. */
async function machine(schema: string, offMs: number) {
  const real = systemClock();
  const waits: number[] = [];
  const clock: Clock = {
    ...real,
    now: () => real.now() + offMs,
    sleep: async (ms) => void waits.push(ms),
  };
  const path = join(temporaryFolder(), 'ledger.postgres');
  const url = `${server?.url}?schema=${schema}`;
  const ledger = await openLedger({ kind: 'postgres', path, url }, { now: real.iso });
  onTestFinished(() => ledger.close());
  const limits = { ledger, clock, name: 'requests' };
  return {
    waits,
    even: createRateLimiter({ ...limits, perMs: 1000, limit: 1000 }),
    burst: createThrottle({ ...limits, perMs: 60_000, limit: 6 }),
  };
}

describe.skipIf(!server)(`machines whose clocks are apart${server ? '' : noPostgres}`, () => {
  it('wait no longer for a start than the rate demands', async () => {
    const [ahead, behind] = [await machine('even', 10_000), await machine('even', 0)];
    for (const one of [ahead, behind, ahead, behind]) await one.even.take();
    expect(Math.max(0, ...ahead.waits, ...behind.waits)).toBeLessThan(100);
  });

  it('spend the resends of a minute once', async () => {
    const [ahead, behind] = [await machine('burst', 70_000), await machine('burst', 0)];
    for (let n = 0; n < 6; n++) expect(await behind.burst.tryTake()).toBe(0);
    expect(await ahead.burst.tryTake()).toBeGreaterThan(50_000);
  });
});
