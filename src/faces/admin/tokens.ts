import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../core/runtime/clock.ts';
import { ownerOf } from '../../watching/webhooks/receiver-address.ts';

/** Keeps only hashes of the tokens. A look-up compares with every token, so that its time tells nothing. */
export function createTokens(list: readonly { name: string; token: string }[]) {
  const known = list.map(({ name, token }) => ({ name, digest: digestOf(token) }));
  return {
    exist: known.length > 0,
    /** The name of the token's holder; undefined for an unknown token. */
    nameOf(token: string): string | undefined {
      const digest = digestOf(token);
      const matches = known.filter((one) => timingSafeEqual(one.digest, digest));
      return matches[0]?.name;
    },
  };
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** How many wrong tokens a minute one address may try, and all addresses together. */
const mostWrong = { perAddress: 10, total: 100 };
const windowMs = 60_000;

/** Limits the guessing of tokens. Within a minute at most 101 addresses are remembered. */
export function createGuessLimit(clock: Pick<Clock, 'monotonic'>) {
  let beganMs = Number.NEGATIVE_INFINITY;
  let total = 0;
  let wrong = new Map<string, number>();
  const renew = (): void => {
    if (clock.monotonic() - beganMs < windowMs) return;
    beganMs = clock.monotonic();
    total = 0;
    wrong = new Map();
  };
  return {
    /** Seconds until this address may try again; 0: now. */
    waitSeconds(address: string): number {
      renew();
      const isOver = total >= mostWrong.total || (wrong.get(ownerOf(address)) ?? 0) >= mostWrong.perAddress;
      return isOver ? Math.max(1, Math.ceil((beganMs + windowMs - clock.monotonic()) / 1000)) : 0;
    },
    count(address: string): void {
      renew();
      total += 1;
      wrong.set(ownerOf(address), (wrong.get(ownerOf(address)) ?? 0) + 1);
    },
  };
}
