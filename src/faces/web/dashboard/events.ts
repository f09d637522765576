import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../core/runtime/clock.ts';
import type { Looks } from './look.ts';

/** Each open dashboard holds a connection. */
const mostStreams = 100;
const lookEveryMs = 1000;
/** Ages on a page go on although no figure changes. */
const tickEvery = 20;
/** A reader that takes nothing is let go. */
const mostWaiting = 65_536;

/** Tells open dashboards when something changed. It looks only while somebody watches. */
export function createEvents(deps: {
  looks: Looks;
  clock: Pick<Clock, 'sleep'>;
  closing: AbortSignal;
  onFailed(error: unknown): void;
}) {
  const { looks, clock, closing } = deps;
  const streams = new Set<ServerResponse>();
  let watching = false;

  const send = (raw: ServerResponse, name: string, data: string): void => {
    if (raw.writableLength > mostWaiting) raw.destroy();
    else raw.write(`event: ${name}\ndata: ${data}\n\n`);
  };
  const sayVersion = async (to: Iterable<ServerResponse>): Promise<void> => {
    const { version } = await looks.look();
    for (const raw of to) send(raw, 'version', version);
  };
  async function watch(): Promise<void> {
    if (watching) return;
    watching = true;
    let last = '';
    for (let turn = 1; streams.size > 0 && !closing.aborted; turn++) {
      await clock.sleep(lookEveryMs, closing);
      try {
        const { version } = await looks.look();
        if (version !== last) await sayVersion(streams);
        else if (turn % tickEvery === 0) for (const raw of streams) send(raw, 'tick', '');
        last = version;
      } catch (error) {
        // Without a look there is nothing to say: the pages then say that they are not live.
        deps.onFailed(error);
        for (const raw of streams) raw.destroy();
      }
    }
    watching = false;
  }
  closing.addEventListener('abort', () => {
    for (const raw of streams) raw.end();
  });
  return {
    /** Starts a stream of server-sent events on this answer; false: there are too many already. */
    open(raw: ServerResponse, headers: Record<string, string>): boolean {
      if (streams.size >= mostStreams || closing.aborted) return false;
      raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      raw.write('retry: 3000\n\n');
      streams.add(raw);
      raw.once('close', () => streams.delete(raw));
      raw.on('error', () => raw.destroy());
      sayVersion([raw]).catch((error: unknown) => {
        deps.onFailed(error);
        raw.destroy();
      });
      void watch();
      return true;
    },
  };
}
