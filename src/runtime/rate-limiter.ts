import type { Ledger, Trx } from '../ledger/open.ts';
import { reserveBurst, reserveEven } from '../ledger/sending/rates.ts';
import type { Clock } from './clock.ts';

export type RateLimiter = {
  /** Resolves when the caller may start; at once when the signal aborts (the caller checks it). Throws on ledger I/O. */
  take(signal?: AbortSignal): Promise<void>;
  /** How many starts one commit reserves; Infinity where there is no limit. */
  atOnce: number;
  /** 0 when the caller may start now; else the ms until a start is free, and nothing is reserved. Not for `even`. */
  tryTake(): Promise<number>;
};

/**
 * A limit of `limit` starts per `perMs`, shared by all processes on the ledger; 0 means none. `even` spreads starts
 * evenly, and reserves for everyone who waits (up to a twentieth of the limit) in one commit; `burst` lets the
 * whole limit be spent at once, never more in any window.
 */
export function createRateLimiter(deps: {
  ledger: Ledger;
  clock: Clock;
  name: string;
  perMs: number;
  limit: number;
  spread: 'even' | 'burst';
}): RateLimiter {
  const { ledger, clock, name, perMs, limit } = deps;
  const blockSize = Math.max(1, Math.floor(limit / 20));
  let reserved: number[] = [];
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();

  const waits = (trx: Trx, nowMs: number): Promise<number[]> =>
    deps.spread === 'burst'
      ? reserveBurst(trx, name, { limit, perMs, nowMs }).then((wait) => [wait])
      : reserveEven(trx, name, { count: Math.min(blockSize, waiting), intervalMs: perMs / limit, nowMs });
  const reserve = (): Promise<number[]> =>
    ledger.write(async (trx) => {
      const nowMs = clock.now();
      return (await waits(trx, nowMs)).map((wait) => nowMs + wait);
    });
  const nextStart = async (signal?: AbortSignal): Promise<number> => {
    if (signal?.aborted) return 0;
    if (reserved.length === 0) reserved = await reserve();
    return reserved.shift() ?? 0;
  };
  return {
    atOnce: limit === 0 ? Number.POSITIVE_INFINITY : blockSize,
    async take(signal) {
      if (limit === 0) return;
      waiting++;
      const mine = turn.then(() => nextStart(signal)).finally(() => waiting--);
      turn = mine.catch(() => undefined);
      const wait = (await mine) - clock.now();
      if (wait > 0) await clock.sleep(wait, signal);
    },
    async tryTake() {
      if (limit === 0) return 0;
      return ledger.write((trx) =>
        reserveBurst(trx, name, { limit, perMs, nowMs: clock.now(), nowOnly: true }),
      );
    },
  };
}
