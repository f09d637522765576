import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** What slow senders are told, and what they have done so far. */
export type SlowSenders = { ports: readonly [number, number]; count: number };
export type SlowTally = { opened: number; open: number };

const head = 'POST /webhooks/test HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 60000\r\nx-slow: ';

/** A thread of their own: who asks meanwhile must not wait for them. Runs until it is ended. */
async function crawlAll({ ports, count }: SlowSenders): Promise<never> {
  const sockets = new Set<Socket>();
  let opened = 0;
  /** One byte a second, and again from the start when it is dropped. */
  const crawl = async (port: number, from: string): Promise<never> => {
    for (;;) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from });
      sockets.add(socket);
      opened += 1;
      const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.on('error', () => undefined).resume();
      for (let at = 0; !socket.destroyed && !socket.readableEnded; at++) {
        socket.write(head[at] ?? 'x');
        await Promise.race([sleep(1000), gone]);
      }
      socket.destroy();
      sockets.delete(socket);
      await sleep(1000);
    }
  };
  for (let n = 0; n < count; n++) {
    const from = n % 4 < 2 ? '127.0.0.1' : `127.0.${1 + (n % 20)}.${1 + (n % 250)}`;
    void sleep((n / count) * 10_000).then(() => crawl(ports[n % 2] ?? ports[0], from));
  }
  for (;;) {
    const open = [...sockets].filter(({ readyState }) => readyState === 'open').length;
    parentPort?.postMessage({ opened, open } satisfies SlowTally);
    await sleep(1000);
  }
}

if (parentPort) await crawlAll(workerData);
