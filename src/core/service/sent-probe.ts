import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const channel = 'undici:client:sendHeaders';

export type SentProbe = {
  /**
   * Starts to watch one request, identified by its body buffer. The function returned says whether its bytes began to
   * leave.
   */
  watch(body: Buffer): () => boolean;
  close(): void;
};

/** Knows which requests undici began to write (P7). Only this event proves it; no error name does. */
export function createSentProbe(): SentProbe {
  const sent = new WeakSet<object>();
  const onSend = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('request' in message)) return;
    const { request } = message;
    if (typeof request !== 'object' || request === null || !('body' in request)) return;
    if (typeof request.body === 'object' && request.body !== null) sent.add(request.body);
  };
  subscribe(channel, onSend);
  return {
    watch: (body) => () => sent.has(body),
    close: () => {
      unsubscribe(channel, onSend);
    },
  };
}
