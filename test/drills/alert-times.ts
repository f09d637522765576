import { setTimeout as sleep } from 'node:timers/promises';
import { batchOf } from './batches.ts';
import { type DrillHome, openHome } from './home.ts';

/** A cause of an alert, and what its message says. */
type Event = { name: string; cause(home: DrillHome): Promise<void> | void; said: RegExp };

const patienceMs = 30_000;

const events: readonly Event[] = [
  {
    name: 'a file is refused',
    cause: (home) => home.drop('broken.csv', 'reference,amount\nBROKEN-1,1.00\n'),
    said: /file was refused/,
  },
  {
    name: 'a batch is held',
    // Its rows repeat those of an earlier batch.
    cause: (home) => home.drop('again.csv', batchOf('AGAIN', 3)),
    said: /is held: 3 payouts of it wait/,
  },
  {
    name: 'webhooks have wrong signatures',
    cause: async ({ receiver }) => {
      for (let n = 1; n <= 3; n++) {
        const body = JSON.stringify({ event: 'payout', reference: `FIRST-${n}`, status: 'success' });
        const headers = { 'content-type': 'application/json', payloadsignature: 'ab'.repeat(64) };
        await fetch(`${receiver}/webhooks/test`, { method: 'POST', headers, body });
      }
    },
    said: /webhooks about our payouts were refused/,
  },
  {
    name: 'a person halts sending',
    cause: async (home) => void (await home.run('hold', '--mode', '--yes')),
    said: /Sending is halted: a person stopped it/,
  },
];

/** Measures the seconds from each cause, once a job or command has begun to record it, to its message. */
export async function measureAlerts(bound: number): Promise<{ lines: string[]; failed: boolean }> {
  const home = await openHome();
  const lines = ['| event | alert after |', '|---|---|'];
  let failed = false;
  try {
    await home.serve.start();
    home.drop('first.csv', batchOf('FIRST', 3));
    await until(() => home.sandbox.book.transfers().length === 3);
    for (const { name, cause, said } of events) {
      const began = performance.now();
      await cause(home);
      const find = () => home.alerts.messages.find(({ text, atMs }) => atMs >= began && said.test(text));
      await until(() => find() !== undefined);
      const message = find();
      const seconds = message && (message.atMs - began) / 1000;
      lines.push(`| ${name} | ${seconds === undefined ? 'MISSING' : `${seconds.toFixed(1)} s`} |`);
      if (seconds === undefined || seconds > bound) failed = true;
    }
    if (failed) lines.push(home.serve.log().slice(-2000));
    return { lines, failed };
  } finally {
    await home.close();
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const began = performance.now();
  while (!isSo() && performance.now() - began < patienceMs) await sleep(50);
}
