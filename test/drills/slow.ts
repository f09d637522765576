import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { events } from '../bench/receiver-load.ts';
import { exchange, publicKey, secretKey } from '../support/receiver.ts';
import { openHome } from './home.ts';

const forMs = 60_000;
const askEveryMs = 500;
const boundMs = 1000;
const head = 'POST /webhooks/test HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 60000\r\nx-slow: ';

/** Holds slow connections to both servers and asks for health and delivers a webhook meanwhile. */
export async function measureSlow(count: number): Promise<{ lines: string[]; failed: boolean }> {
  const home = await openHome({}, { secretKey, publicKey, encryptionKey: '' });
  const sockets = new Set<Socket>();
  const tally = { opened: 0, dropped: 0, most: 0 };
  let isOver = false;
  /** One byte a second, and again from the start when it is dropped. */
  const crawl = async (port: number, from: string): Promise<void> => {
    while (!isOver) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from });
      sockets.add(socket);
      tally.opened += 1;
      const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.on('error', () => undefined).resume();
      for (let at = 0; !isOver && !socket.destroyed && !socket.readableEnded; at++) {
        socket.write(head[at] ?? 'x');
        await Promise.race([sleep(1000), gone]);
      }
      socket.destroy();
      sockets.delete(socket);
      tally.dropped += 1;
      await sleep(1000);
    }
  };
  try {
    await home.serve.start();
    const ports = [Number(new URL(home.admin).port), Number(new URL(home.receiver).port)];
    const crawling = Array.from({ length: count }, async (_, n) => {
      await sleep((n / count) * 10_000);
      await crawl(ports[n % 2] ?? 0, n % 4 < 2 ? '127.0.0.1' : `127.0.${1 + (n % 20)}.${1 + (n % 250)}`);
    });
    await sleep(11_000);
    const times: Record<string, number[]> = { '/healthz': [], webhook: [] };
    const faults: string[] = [];
    const all = events(forMs / askEveryMs, 'SLOW');
    const end = performance.now() + forMs;
    for (const { bytes } of all) {
      if (performance.now() > end) break;
      tally.most = Math.max(
        tally.most,
        [...sockets].filter(({ readyState }) => readyState === 'open').length,
      );
      const ask = async (name: string, work: () => Promise<boolean>): Promise<void> => {
        const began = performance.now();
        const isRight = await work().catch(() => false);
        times[name]?.push(performance.now() - began);
        if (!isRight) faults.push(`${name} was not answered rightly`);
      };
      await Promise.all([
        ask('/healthz', async () => {
          const answer = await fetch(`${home.admin}/healthz`, { headers: { connection: 'close' } });
          return answer.status === 200 && (await answer.text()) === 'ok\n';
        }),
        ask('webhook', async () => {
          const answer = await exchange(ports[1] ?? 0, [bytes], { from: '127.0.99.1' });
          return answer.startsWith('HTTP/1.1 200 ') && answer.endsWith('success');
        }),
        sleep(askEveryMs),
      ]);
    }
    const lines = Object.entries(times).map(([name, some]) => {
      const worst = Math.max(...some);
      if (worst > boundMs) faults.push(`${name} took ${worst.toFixed(0)} ms`);
      return `${name}: ${some.length} asked, slowest ${worst.toFixed(0)} ms`;
    });
    isOver = true;
    await Promise.all(crawling);
    const seen = `${count} slow senders (half to each server): at most ${tally.most} connections open at once, ${tally.opened} opened in all`;
    return {
      lines: [seen, ...lines, ...new Set(faults.map((one) => `FAILED  ${one}`))],
      failed: faults.length > 0,
    };
  } finally {
    isOver = true;
    for (const socket of sockets) socket.destroy();
    await home.close();
  }
}
