import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { events } from '../bench/receiver-load.ts';
import { exchange, publicKey, secretKey } from '../support/receiver.ts';
import { type DrillHome, openHome } from './home.ts';
import type { SlowSenders, SlowTally } from './slow-senders.ts';

const forMs = 60_000;
const askEveryMs = 500;
const boundMs = 1000;

/** Holds slow connections to both servers and asks for health and delivers a webhook meanwhile. */
export async function measureSlow(count: number): Promise<{ lines: string[]; failed: boolean }> {
  const home = await openHome({}, { secretKey, publicKey, encryptionKey: '' });
  let senders: Worker | undefined;
  try {
    await home.serve.start();
    const receiver = Number(new URL(home.receiver).port);
    const workerData: SlowSenders = { ports: [Number(new URL(home.admin).port), receiver], count };
    senders = new Worker(new URL('./slow-senders.ts', import.meta.url), { workerData });
    const tally = { opened: 0, most: 0 };
    senders.on('message', ({ opened, open }: SlowTally) => {
      tally.opened = opened;
      tally.most = Math.max(tally.most, open);
    });
    await sleep(12_000);
    const { lines, faults } = await askMeanwhile(home, receiver);
    const seen = `${count} slow senders (half to each server): at most ${tally.most} connections open at once, ${tally.opened} opened in all`;
    return { lines: [seen, ...lines, ...faults.map((one) => `FAILED  ${one}`)], failed: faults.length > 0 };
  } finally {
    await senders?.terminate();
    await home.close();
  }
}

/** Asks both servers for a minute: each answer must be right and quick. */
async function askMeanwhile(
  home: DrillHome,
  receiver: number,
): Promise<{ lines: string[]; faults: string[] }> {
  const times: Record<string, number[]> = { '/healthz': [], webhook: [] };
  const faults = new Set<string>();
  const ask = async (name: string, work: () => Promise<boolean>): Promise<void> => {
    const began = performance.now();
    const isRight = await work().catch(() => false);
    times[name]?.push(performance.now() - began);
    if (!isRight) faults.add(`${name} was not answered rightly`);
  };
  const end = performance.now() + forMs;
  for (const { bytes } of events(forMs / askEveryMs, 'SLOW')) {
    if (performance.now() > end) break;
    await Promise.all([
      ask('/healthz', async () => {
        const answer = await fetch(`${home.admin}/healthz`, { headers: { connection: 'close' } });
        return answer.status === 200 && (await answer.text()) === 'ok\n';
      }),
      ask('webhook', async () => {
        const answer = await exchange(receiver, [bytes], { from: '127.0.99.1' });
        return answer.startsWith('HTTP/1.1 200 ') && answer.endsWith('success');
      }),
      sleep(askEveryMs),
    ]);
  }
  const lines = Object.entries(times).map(([name, some]) => {
    const worst = Math.max(...some);
    if (worst > boundMs) faults.add(`${name} took ${worst.toFixed(0)} ms`);
    return `${name}: ${some.length} asked, slowest ${worst.toFixed(0)} ms`;
  });
  return { lines, faults: [...faults] };
}
