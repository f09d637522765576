import type { CounterfoilEvent } from './operation-types.ts';
import { isPassing, pause, pauseAfter } from './pauses.ts';
import type { Requests } from './requests.ts';

/** The server says something every 15 seconds: a connection that is silent for so long is dead. */
const silentMs = 45_000;

/** Reads events for ever, over lost connections. Throws {@link ApiError} for a cursor or token that is refused. */
export async function* followEvents(
  requests: Pick<Requests, 'send' | 'json'>,
  { after, signal }: { after?: string; signal?: AbortSignal },
): AsyncGenerator<CounterfoilEvent, void, undefined> {
  let cursor = after;
  for (let failures = 0; ; ) {
    const connection = new AbortController();
    const over = AbortSignal.any(signal ? [signal, connection.signal] : [connection.signal]);
    const giveUp = (): void => connection.abort(new Error('the connection is silent'));
    let watch = setTimeout(giveUp, silentMs);
    const onPiece = (): void => {
      clearTimeout(watch);
      watch = setTimeout(giveUp, silentMs);
    };
    try {
      // What happens while the connection is lost must not be missed either.
      if (cursor === 'latest') cursor = await newest(requests, over);
      const query = cursor === undefined ? '' : `?after=${encodeURIComponent(cursor)}`;
      const headers = { accept: 'text/event-stream' };
      const { body } = await requests.send(`/events${query}`, { headers, signal: over });
      if (!body) throw new Error('the stream of events has no body');
      for await (const block of blocksOf(body, onPiece)) {
        failures = 0;
        const data = dataOf(block);
        if (data === '') continue;
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server's tests hold its events against their schema
        const event = JSON.parse(data) as CounterfoilEvent;
        yield event;
        cursor = event.cursor;
      }
      throw new Error('the stream of events ended');
    } catch (error) {
      if (signal?.aborted) return;
      if (!isPassing(error)) throw error;
      failures++;
      await pause(pauseAfter(failures, error), signal).catch(() => undefined);
      if (signal?.aborted) return;
    } finally {
      clearTimeout(watch);
      connection.abort();
    }
  }
}

/** The cursor of the newest event; undefined where there was none yet. */
async function newest(requests: Pick<Requests, 'json'>, signal: AbortSignal): Promise<string | undefined> {
  const { next } = await requests.json<{ next: string | null }>('/events?after=latest', { signal });
  return next ?? undefined;
}

/** The blocks of a stream of server-sent events, each ended by an empty line. */
async function* blocksOf(body: ReadableStream<Uint8Array>, onPiece: () => void): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onPiece();
    const parts = `${text}${decoder.decode(value, { stream: true })}`.split('\n\n');
    text = parts.pop() ?? '';
    yield* parts;
  }
}

/** The data of a block; empty for a comment. */
function dataOf(block: string): string {
  return block
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
    .join('\n');
}
