import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { webhookHeaders } from '../../src/sandbox/webhook-message.ts';
import { publicKey, secretKey } from '../support/receiver.ts';
import { type DrillHome, openHome } from './home.ts';
import { until } from './waiting.ts';

const webhookEveryMs = 10;
const healthEveryMs = 20;
const betweenMs = 1000;
/** Longer than this is no hand-over: the service gives a webhook half a minute. */
const mostPauseMs = 30_000;

/** What a caller met: answers, calls to a port that was closed or closing, and how long it had to wait at most. */
type Met = { answered: number; refused: number; strange: string[]; longestMs: number; pauseMs: number };

/** Reloads `serve` so often under a steady load of webhooks, and says how long its addresses answered nothing. */
export async function measureReloads(times: number): Promise<{ lines: string[]; failed: boolean }> {
  const off = { COUNTERFOIL_SCHEDULES_RECONCILE: '' };
  const keys = { secretKey, publicKey, encryptionKey: '' };
  const home = await openHome(off, keys);
  try {
    await home.serve.start();
    const over = new AbortController();
    const health = caller(healthEveryMs, over.signal, () => ask(`${home.admin}/healthz`));
    let sent = 0;
    const webhooks = caller(webhookEveryMs, over.signal, () => {
      sent += 1;
      const body = JSON.stringify({ event: 'payout', reference: `RELOAD-${sent}`, status: '00' });
      const message = { mode: 'test', reference: `RELOAD-${sent}`, body, forged: false } as const;
      return ask(`${home.receiver}/webhooks/test`, webhookHeaders(message, keys, Date.now()), body);
    });
    for (let n = 1; n <= times; n++) {
      await sleep(betweenMs);
      await reload(home, n);
    }
    await sleep(betweenMs);
    over.abort();
    const found = [['/healthz', await health] as const, ['webhooks', await webhooks] as const];
    const faults = found.flatMap(([name, met]) => faultsOf(name, met));
    const head = `| ${times} reloads, a webhook each ${webhookEveryMs} ms | answered | refused | longest answer | longest without any answer |`;
    const rows = found.map(([name, met]) => rowOf(name, met));
    return { lines: [head, '|---|---:|---:|---:|---:|', ...rows, ...faults], failed: faults.length > 0 };
  } finally {
    await home.close();
  }
}

/** Changes a setting, so that a new worker takes over, and waits until it serves. */
async function reload({ dir, serve }: DrillHome, n: number): Promise<void> {
  const file = join(dir, 'config', 'counterfoil.yaml');
  const rest = readFileSync(file, 'utf8').replace(/^reports: .*\n/m, '');
  writeFileSync(file, `${rest}reports: { keep_days: ${1000 + n} }\n`);
  process.kill(serve.pid(), 'SIGHUP');
  const count = (event: string): number => serve.log().split(`"event":"${event}"`).length - 1;
  await until(`reload ${n}`, async () => count('reloaded') >= n && count('started') > n);
}

/** Calls at even times, whatever the answers take. */
async function caller(everyMs: number, signal: AbortSignal, call: () => Promise<number>): Promise<Met> {
  const met: Met = { answered: 0, refused: 0, strange: [], longestMs: 0, pauseMs: 0 };
  const open = new Set<Promise<void>>();
  let last = performance.now();
  const one = async (): Promise<void> => {
    const began = performance.now();
    const status = await call().catch(() => null);
    const now = performance.now();
    // 503: a server that closes. A sender of webhooks comes again, as after a closed port.
    if (status === null || status === 503) {
      met.refused += 1;
      return;
    }
    met.answered += 1;
    met.longestMs = Math.max(met.longestMs, now - began);
    met.pauseMs = Math.max(met.pauseMs, now - last);
    last = now;
    if (status !== 200) met.strange.push(String(status));
  };
  while (!signal.aborted) {
    const calling = one();
    open.add(calling);
    void calling.finally(() => open.delete(calling));
    await sleep(everyMs);
  }
  await Promise.all(open);
  return met;
}

/** The status of one request over a connection of its own. */
function ask(url: string, headers: Record<string, string> = {}, body = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body === '' ? 'GET' : 'POST', headers, agent: false }, (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode ?? 0));
      reply.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function rowOf(name: string, { answered, refused, longestMs, pauseMs }: Met): string {
  return `| ${name} | ${answered} | ${refused} | ${longestMs.toFixed(0)} ms | ${pauseMs.toFixed(0)} ms |`;
}

function faultsOf(name: string, { strange, answered, longestMs, pauseMs }: Met): string[] {
  const most = Math.max(longestMs, pauseMs);
  return [
    ...(strange.length > 0 ? [`FAILED  ${name} answered ${[...new Set(strange)].join(', ')}`] : []),
    ...(answered === 0 ? [`FAILED  ${name} answered nothing`] : []),
    ...(most > mostPauseMs ? [`FAILED  ${name} answered nothing for ${(most / 1000).toFixed(1)} s`] : []),
  ];
}
