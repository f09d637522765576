import type { RequestEnd, Transport } from './http.ts';

/** One request to the service, for monitors. `operation` is the interface's name of it, without any reference. */
export type RequestTime = { operation: string; result: string; seconds: number };

/** Times each request of a transport. `monotonic` is in milliseconds. */
export function timeTransport(
  transport: Transport,
  { monotonic, onRequest }: { monotonic(): number; onRequest(time: RequestTime): void },
): Transport {
  return {
    async deliver(request) {
      const began = monotonic();
      const delivery = await transport.deliver(request);
      onRequest({
        operation: operationOf(request.path),
        result: resultOf(delivery),
        seconds: (monotonic() - began) / 1000,
      });
      return delivery;
    },
    close: () => transport.close(),
  };
}

const operations = [
  'bank_transfer',
  'fetch_all_transfers',
  'fetch_transfer_details',
  'transaction/verify',
  'resend_payout_webhook',
  'resend_transaction_webhook',
];

function operationOf(path: string): string {
  const name = operations.find((one) => new RegExp(`/${one}(?:[/?]|$)`).test(path));
  return name?.replace('/', '_') ?? 'other';
}

/** `2xx` to `5xx`, or how it failed: `timed_out`, `no_answer`, `not_sent`. */
function resultOf(delivery: RequestEnd): string {
  if (delivery.kind === 'reply') return `${Math.floor(delivery.reply.status / 100)}xx`;
  if (!delivery.sent) return 'not_sent';
  return delivery.timedOut ? 'timed_out' : 'no_answer';
}
