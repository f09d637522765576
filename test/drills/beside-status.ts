import { setTimeout as sleep } from 'node:timers/promises';
import { batchOf } from './batches.ts';
import { differing, type Figure, figuresIn, type Status } from './figures.ts';
import { type DrillHome, openHome } from './home.ts';
import { readSignals } from './signals.ts';

const killEveryMs = 10_000;
const batchEveryMs = 5000;
const rowsPerBatch = 40;
const settleMs = 600_000;

/** Kills `serve` again and again while batches arrive, lets all settle, and compares what each view then says. */
export async function besideStatus(seconds: number): Promise<{ lines: string[]; failed: boolean }> {
  const home = await openHome({ COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0' });
  try {
    await home.serve.start();
    const before = await readSignals(home);
    const deeds = await hurt(home, seconds * 1000);
    const status = await settled(home, deeds.batches * rowsPerBatch);
    const figures = figuresIn(status, await readSignals(home));
    const wrong = differing(figures);
    // The control: the figures from before the chaos must differ, or nothing was compared.
    const control = differing(figuresIn(status, before));
    const lines = [
      '| figure | status --json | /metrics | dashboard |',
      ...figures.filter((one) => one.status + one.metrics > 0 || wrong.includes(one)).map(lineOf),
      `${deeds.kills} kills, ${deeds.batches} batches of ${rowsPerBatch} in ${seconds} s; ${figures.length} figures compared, ${wrong.length} differ; control: ${control.length} of those before the chaos differ`,
      ...wrong.map((one) => `FAILED  ${lineOf(one)}`),
    ];
    return { lines, failed: wrong.length > 0 || control.length === 0 || deeds.kills === 0 };
  } finally {
    await home.close();
  }
}

async function hurt(home: DrillHome, forMs: number): Promise<{ kills: number; batches: number }> {
  const end = performance.now() + forMs;
  const deeds = { kills: 0, batches: 0 };
  const killing = (async () => {
    for (;;) {
      await sleep(Math.min(killEveryMs, end - performance.now()));
      await home.serve.end('SIGKILL');
      deeds.kills += 1;
      await home.serve.start();
      if (performance.now() >= end) return;
    }
  })();
  while (performance.now() < end) {
    deeds.batches += 1;
    home.drop(
      `chaos-${deeds.batches}.csv`,
      batchOf(`C${deeds.batches}`, rowsPerBatch, deeds.batches * rowsPerBatch),
    );
    await sleep(batchEveryMs);
  }
  await killing;
  return deeds;
}

/** What `status --json` says once no payout is on its way, every webhook is applied and two looks say the same. */
async function settled(home: DrillHome, rows: number): Promise<Status> {
  const end = performance.now() + settleMs;
  let last = '';
  while (performance.now() < end) {
    const { out } = await home.run('status', '--json');
    const status: Status = JSON.parse(out);
    const { payouts, webhooks } = status;
    const present = JSON.stringify([payouts, webhooks, status.discrepancies, status.last_run]);
    const moving = ['ready', 'sending', 'pending'].some((state) => (payouts[state] ?? 0) > 0);
    const all = Object.values(payouts).reduce((a, b) => a + b, 0);
    if (all === rows && !moving && present === last) return status;
    last = present;
    await sleep(1000);
  }
  throw new Error(`not settled within ${settleMs / 1000} s: ${last}`);
}

function lineOf({ name, status, metrics, dashboard }: Figure): string {
  return `| ${name} | ${status} | ${metrics} | ${dashboard ?? ''} |`;
}
