import type { Ledger } from '../storage/ledger.ts';
import type { Clock } from './clock.ts';
import { reserveEven, takeBurst } from './rates.sql.ts';

type Limit = { ledger: Ledger; clock: Clock; name: string; perMs: number; limit: number };
/** Called with the seconds of each wait. */
type Watched = { onWait?(seconds: number): void };

export type RateLimiter = {
  /** Resolves when the caller may start; at once when the signal aborts (the caller checks it). Throws ledger I/O errors. */
  take(signal?: AbortSignal): Promise<void>;
  /** How many starts one commit reserves; Infinity without a limit. */
  atOnce: number;
};

/**
 * Limits starts to `limit` per `perMs` over all processes on the ledger; 0 means no limit. Spreads starts evenly, and
 * one commit reserves for all waiters (up to a twentieth of the limit). A reservation becomes a wait on this process's
 * monotonic clock (P33).
 */
export function createRateLimiter({
  ledger,
  clock,
  name,
  perMs,
  limit,
  onWait,
}: Limit & Watched): RateLimiter {
  const blockSize = Math.max(1, Math.floor(limit / 20));
  let reserved: number[] = [];
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();

  const reserve = (): Promise<number[]> =>
    ledger.write(async (trx) => {
      const count = Math.min(blockSize, waiting);
      const began = clock.monotonic();
      const waits = await reserveEven(trx, name, { count, intervalMs: perMs / limit, nowMs: clock.now() });
      return waits.map((wait) => began + wait);
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
      const began = clock.monotonic();
      waiting++;
      const mine = turn.then(() => nextStart(signal)).finally(() => waiting--);
      turn = mine.catch(() => undefined);
      const wait = (await mine) - clock.monotonic();
      if (wait > 0) await clock.sleep(wait, signal);
      onWait?.((clock.monotonic() - began) / 1000);
    },
  };
}

export type Throttle = {
  /** 0 when the caller may start now. Otherwise the ms until a start is free; nothing is reserved. */
  tryTake(): Promise<number>;
};

/** Like {@link createRateLimiter}, but the whole limit may be spent in a burst. No window of `perMs` ever holds more. */
export function createThrottle({ ledger, clock, name, perMs, limit }: Limit): Throttle {
  return {
    async tryTake() {
      if (limit === 0) return 0;
      return ledger.write((trx) => takeBurst(trx, name, { limit, perMs, nowMs: clock.now() }));
    },
  };
}
