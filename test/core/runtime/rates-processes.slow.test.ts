import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { openLedger } from '../../../src/custody/open-ledger.ts';

/** Two processes on one ledger that each start as often as they may until the instant given, and say when. */
async function startsOfTwo(limit: object, untilMs: number): Promise<number[][]> {
  const dir = mkdtempSync(join(tmpdir(), 'counterfoil-rates-'));
  try {
    await (await openLedger(join(dir, 'ledger.db'), { now: () => new Date().toISOString() })).close();
    return await Promise.all([startsOf(dir, limit, untilMs), startsOf(dir, limit, untilMs)]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function startsOf(dir: string, limit: object, untilMs: number): Promise<number[]> {
  const source = (name: string): string =>
    JSON.stringify(new URL(`../../../src/${name}`, import.meta.url).href);
  const script = `
    const { openLedger } = await import(${source('custody/open-ledger.ts')});
    const { systemClock } = await import(${source('core/runtime/clock.ts')});
    const { createRateLimiter, createThrottle } = await import(${source('core/runtime/rate-limiter.ts')});
    const clock = systemClock();
    const ledger = await openLedger(process.argv[1] + '/ledger.db', { now: () => clock.iso() });
    const { spread, ...limit } = JSON.parse(process.argv[2]);
    const deps = { ledger, clock, name: 'requests', ...limit };
    const throttle = createThrottle(deps);
    const untilFree = async (over) => {
      for (let wait = 1; wait > 0 && !over.aborted; ) {
        wait = await throttle.tryTake();
        await clock.sleep(wait, over);
      }
    };
    const { take } = spread === 'burst' ? { take: untilFree } : createRateLimiter(deps);
    const starts = [], until = Number(process.argv[3]), over = AbortSignal.timeout(Math.max(1, until - Date.now()));
    const lane = async () => {
      for (;;) {
        await take(over);
        if (over.aborted) return;
        starts.push(Date.now());
      }
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    await ledger.close();
    process.stdout.write(JSON.stringify(starts));`;
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', script, dir, JSON.stringify(limit), String(untilMs)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`a process that starts ended with ${code}`);
  return JSON.parse(out);
}

// Both only wait for their seconds to pass.
it.concurrent('two processes together start no more than requests_per_second', async ({ expect }) => {
  const limit = { limit: 50, perMs: 1000, spread: 'even' };
  const seconds = 8;
  const until = Date.now() + seconds * 1000;
  const shares = await startsOfTwo(limit, until);
  expect(shares.every((own) => own.length > 0)).toBe(true);
  // From before the processes began: a busy machine tells of a start late, never of one that was not due.
  expect(shares.flat().length).toBeLessThanOrEqual(50 * seconds + 2);
});

it.concurrent('two processes together ask for no more resends than resends_per_minute', async ({
  expect,
}) => {
  const limit = { limit: 6, perMs: 60_000, spread: 'burst' };
  const until = Date.now() + 4000;
  const shares = await startsOfTwo(limit, until);
  expect(shares.flat()).toHaveLength(6);
});
