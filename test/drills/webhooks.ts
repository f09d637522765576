import { readFileSync } from 'node:fs';
import { deliverAll, events } from '../bench/receiver-load.ts';
import { publicKey, secretKey } from '../support/receiver.ts';
import { type DrillHome, openHome, token } from './home.ts';

const dashboards = 10;
const perRound = 5000;
/** More than this is a leak: a quiet serve takes about 130 MiB. */
const mostMebibytes = 512;

/** Delivers signed webhooks while dashboards are open, and says how much memory `serve` then takes. */
export async function measureWebhooks(count: number): Promise<{ lines: string[]; failed: boolean }> {
  const off = { COUNTERFOIL_SCHEDULES_RECONCILE: '' };
  const home = await openHome(off, { secretKey, publicKey, encryptionKey: '' });
  try {
    await home.serve.start();
    const streams = await Promise.all(Array.from({ length: dashboards }, () => openDashboard(home)));
    const rss: number[] = [mebibytes(home.serve.pid())];
    const began = performance.now();
    for (let done = 0; done < count; done += perRound) {
      const all = events(Math.min(perRound, count - done), `W${done}`);
      await deliverAll(Number(new URL(home.receiver).port), all);
      rss.push(mebibytes(home.serve.pid()));
      process.stderr.write(`${done + all.length} delivered, RSS ${rss.at(-1)} MiB\n`);
    }
    const seconds = (performance.now() - began) / 1000;
    const live = streams.filter(({ isOpen }) => isOpen()).length;
    const told = Math.min(...streams.map(({ events: seen }) => seen()));
    const at = (share: number): number => rss[Math.floor((rss.length - 1) * share)] ?? 0;
    const peak = Math.max(...rss);
    const lines = [
      `${count} signed webhooks in ${seconds.toFixed(0)} s, ${dashboards} dashboards open: ${live} still live, each told at least ${told} times`,
      `RSS of serve: ${at(0)} MiB before, ${at(0.25)} at a quarter, ${at(0.5)} at half, ${at(0.75)} at three quarters, ${at(1)} at the end; peak ${peak} MiB`,
    ];
    return { lines, failed: peak > mostMebibytes || live < dashboards || told < 2 };
  } finally {
    await home.close();
  }
}

async function openDashboard({ admin }: DrillHome) {
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await fetch(`${admin}/events`, { headers });
  let open = true;
  let seen = 0;
  const read = async (): Promise<void> => {
    for await (const chunk of body ?? [])
      seen += Buffer.from(chunk).toString().split('event: version').length - 1;
  };
  void read().then(
    () => (open = false),
    () => (open = false),
  );
  return { isOpen: () => open, events: () => seen };
}

function mebibytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}
