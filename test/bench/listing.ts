import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { App } from '../../src/app/app.ts';
import { bareListing } from './bare.ts';
import { addListed } from './listed-payouts.ts';
import { openBenchApp } from './ours.ts';
import { timed } from './table.ts';

const concurrency = 32;
const { values } = parseArgs({ options: { rows: { type: 'string', default: '100000' } } });
const rows = Number(values.rows);

const dir = await mkdtemp(join(tmpdir(), 'counterfoil-listing-'));
const script = fileURLToPath(new URL('./list-process.ts', import.meta.url));
const child: ChildProcess = fork(script, [String(rows)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
try {
  const [url]: string[] = await once(child, 'message');
  await measure(url ?? '');
} finally {
  child.kill();
  await rm(dir, { recursive: true, force: true });
}

/** One reconciliation that makes every payout final, and one that has nothing to say, beside the bare loop. */
async function measure(url: string): Promise<void> {
  const keys = { secretKey: 'sk_test_bench', publicKey: 'pk_test_bench', encryptionKey: 'enc_test_bench' };
  const service = { url, keys, settle: async () => 0, stop: async () => undefined };
  const app = await openBenchApp(dir, service, concurrency);
  await addListed(app.ledger, rows);
  const settling = await measured(() => reconcile(app));
  const again = await measured(() => reconcile(app));
  await app.close();
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  const bare = await measured(() => bareListing({ ...keys, url, concurrency }));
  const line = (what: string, { seconds, cpuSeconds, longestHoldMs }: Measured): void =>
    console.log(
      `${what.padEnd(36)} ${seconds.toFixed(2)} s, ${(seconds / bare.seconds).toFixed(1)} x the bare loop; ` +
        `${cpuSeconds.toFixed(2)} s on the processor, ${(cpuSeconds / bare.cpuSeconds).toFixed(1)} x; ` +
        `event loop held ${longestHoldMs.toFixed(0)} ms at most`,
    );
  console.log(`${rows} transfers listed, ${concurrency} requests in flight`);
  line('bare: every page once, parsed', bare);
  line('reconciling, every payout settles', settling);
  line('reconciling again', again);
  console.log(`peak memory ${peakMb} MB`);
}

type Measured = { seconds: number; cpuSeconds: number; longestHoldMs: number };

/** Beside the wall clock what this thread itself computed: on a busy machine only that can be compared. */
async function measured(work: () => Promise<unknown>): Promise<Measured> {
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const before = process.threadCpuUsage();
  const { seconds } = await timed(work);
  const { user, system } = process.threadCpuUsage(before);
  loop.disable();
  return { seconds, cpuSeconds: (user + system) / 1e6, longestHoldMs: loop.max / 1e6 };
}

async function reconcile({ reconciliation }: App): Promise<void> {
  const run = await reconciliation.run({ full: true, followUp: true });
  if (run.complete !== true || run.matched !== rows) throw new Error(JSON.stringify(run));
}
