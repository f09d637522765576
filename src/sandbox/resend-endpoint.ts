import type { WireDomain } from '../service/wire.ts';
import type { CollectionWebhooks } from './collection-webhooks.ts';
import type { PayoutWebhooks } from './payout-webhooks.ts';
import { accepted, type Reply, refused, throttled } from './replies.ts';
import type { Now } from './sandbox-clock.ts';
import type { Delivery } from './send-webhooks.ts';
import type { Book } from './transfer-book.ts';

/** Answers both endpoints of "Resend webhooks". */
export type Resend = {
  payout(mode: WireDomain, reference: string): Reply;
  transaction(mode: WireDomain, reference: string): Reply;
};

const windowMs = 60_000;

/** Resends at most `perMinute` in any minute and mode; answers further requests 429 with `Retry-After`. */
export function createResend(deps: {
  book: Book;
  delivery: Delivery;
  webhooks: PayoutWebhooks;
  collectionWebhooks: CollectionWebhooks;
  perMinute: number;
  now: Now;
}): Resend {
  const { book, delivery, webhooks } = deps;
  const throttles: Record<WireDomain, () => number> = {
    test: createThrottle(deps.perMinute, deps.now),
    live: createThrottle(deps.perMinute, deps.now),
  };

  function refusal(mode: WireDomain): Reply | undefined {
    const waitMs = throttles[mode]();
    if (waitMs > 0) return throttled(Math.ceil(waitMs / 1000));
    return delivery.urlOf(mode) === undefined ? refused('06') : undefined;
  }

  return {
    payout(mode, reference) {
      const refusedAs = refusal(mode);
      if (refusedAs !== undefined) return refusedAs;
      const transfer = book.shown(mode, reference);
      if (transfer === undefined) return refused('04');
      webhooks.resend(transfer);
      return accepted('Webhook sent', { reference });
    },
    transaction(mode, reference) {
      const refusedAs = refusal(mode);
      if (refusedAs !== undefined) return refusedAs;
      const collection = book.collection(mode, reference);
      if (collection === undefined) return refused('05');
      deps.collectionWebhooks.resend(collection);
      return accepted('Webhook sent', { reference });
    },
  };
}

/** Takes a place in the window and returns 0, or returns the milliseconds until one is free. */
function createThrottle(perMinute: number, now: Now): () => number {
  const taken: number[] = [];
  return () => {
    const nowMs = now();
    while (taken[0] !== undefined && taken[0] <= nowMs - windowMs) taken.shift();
    if (taken.length < perMinute) {
      taken.push(nowMs);
      return 0;
    }
    return Math.max(1, (taken[0] ?? nowMs) + windowMs - nowMs);
  };
}
