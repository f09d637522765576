import type { WireDomain } from '../core/service/wire.ts';
import type { CollectionWebhooks, PayoutWebhooks } from './announce.ts';
import { accepted, type RefusalCode, type Reply, refused, throttled } from './replies.ts';
import type { Now } from './sandbox-clock.ts';
import type { WebhookSender } from './send-webhooks.ts';
import type { Book } from './transfer-book.ts';

export type Resend = ReturnType<typeof createResend>;

const windowMs = 60_000;

/**
 * Answers both endpoints of "Resend webhooks". Resends at most `perMinute` in any minute and mode; answers further requests
 * 429 with `Retry-After`.
 */
export function createResend(deps: {
  book: Book;
  delivery: WebhookSender;
  webhooks: PayoutWebhooks;
  collectionWebhooks: CollectionWebhooks;
  perMinute: number;
  now: Now;
}) {
  const { book, delivery, webhooks } = deps;
  const throttles: Record<WireDomain, () => number> = {
    test: createThrottle(deps.perMinute, deps.now),
    live: createThrottle(deps.perMinute, deps.now),
  };

  function resend(
    mode: WireDomain,
    reference: string,
    unknown: RefusalCode,
    send: (() => void) | null,
  ): Reply {
    const waitMs = throttles[mode]();
    if (waitMs > 0) return throttled(Math.ceil(waitMs / 1000));
    if (delivery.urlOf(mode) === undefined) return refused('06');
    if (send === null) return refused(unknown);
    send();
    return accepted('Webhook sent', { reference });
  }

  return {
    payout(mode: WireDomain, reference: string): Reply {
      const transfer = book.shown(mode, reference);
      return resend(mode, reference, '04', transfer ? () => webhooks.resend(transfer) : null);
    },
    transaction(mode: WireDomain, reference: string): Reply {
      const found = book.collection(mode, reference);
      return resend(mode, reference, '05', found ? () => deps.collectionWebhooks.resend(found) : null);
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
