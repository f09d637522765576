import { subscribe } from 'node:diagnostics_channel';
import { createSandbox } from '../../src/sandbox/sandbox.ts';

/** What the process that plays the payments service tells: where it listens, then at each order what it was asked. */
export type Told =
  | { kind: 'ready'; url: string; secretKey: string; publicKey: string; encryptionKey: string }
  | { kind: 'asked'; posts: number; details: number; pages: number; others: number };

const [latencyMs, settleMs, webhookUrl] = process.argv.slice(2);
const asked = { posts: 0, details: 0, pages: 0, others: 0 };
subscribe('http.server.request.start', (message) => {
  const url = urlOf(message);
  if (url.includes('/bank_transfer')) asked.posts += 1;
  else if (url.includes('/fetch_transfer_details/')) asked.details += 1;
  else if (url.includes('/fetch_all_transfers')) asked.pages += 1;
  else asked.others += 1;
});
const sandbox = await createSandbox({
  latencyMs: Number(latencyMs),
  settleMs: Number(settleMs),
  webhookRetryMs: 500,
  ...(webhookUrl !== undefined && { webhookUrl }),
});
process.on('message', () => tell({ kind: 'asked', ...asked }));
process.on('disconnect', () => void sandbox.stop().then(() => process.exit(0)));
const { secretKey, publicKey, encryptionKey } = sandbox.keys.test;
tell({ kind: 'ready', url: sandbox.url, secretKey, publicKey, encryptionKey });

function urlOf(message: unknown): string {
  if (typeof message !== 'object' || message === null || !('request' in message)) return '';
  const { request } = message;
  const isRequest = typeof request === 'object' && request !== null && 'url' in request;
  return isRequest ? String(request.url) : '';
}

function tell(told: Told): void {
  process.send?.(told);
}
