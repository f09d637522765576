import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBook } from '../chaos/book.ts';
import { command, finish, firstLine } from '../chaos/processes.ts';
import { planUploads, writeUploads } from './uploads.ts';

export type Figures = {
  uploads: number;
  /** How many stalls were longer than `settle_seconds`. */
  longStalls: number;
  keptOpen: number;
  /** Transfers that no whole file asks for, by reference or amount. */
  fromPartial: number;
  paidTwice: number;
  missing: number;
  seconds: number;
};

/**
 * Uploads that stall at random cuts and go on, into the inbox of a real `serve` that sends to a real sandbox; then what the
 * sandbox paid is compared with what the whole files say.
 */
export async function runStalled(plan: {
  count: number;
  settleSeconds: number;
  parallel: number;
  seed: number;
  patienceMs: number;
  say(line: string): void;
}): Promise<Figures> {
  const settleMs = plan.settleSeconds * 1000;
  const planned = planUploads({ count: plan.count, settleMs, seed: plan.seed });
  const dir = mkdtempSync(join(tmpdir(), 'counterfoil-stalled-'));
  const began = performance.now();
  await finish({ dir, env: {} }, ['init', dir]);
  const sandbox = command({ dir, env: {} }, ['sandbox', '--json', '--port', '0', '--settle-ms', '200']);
  const facts: Record<'url' | 'secret_key' | 'public_key' | 'encryption_key', string> = JSON.parse(
    await firstLine(sandbox),
  );
  const off = ['FOLLOW_UP', 'RECONCILE', 'RECONCILE_FULL', 'REPORT'];
  const env = {
    COUNTERFOIL_SERVICE_BASE_URL: facts.url,
    COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '0',
    COUNTERFOIL_INTAKE_SETTLE_SECONDS: String(plan.settleSeconds),
    COUNTERFOIL_RECEIVER_ENABLED: 'false',
    COUNTERFOIL_ADMIN_PORT: '0',
    COUNTERFOIL_SCHEDULES_INTAKE: '* * * * * *',
    COUNTERFOIL_SCHEDULES_SUBMIT: '* * * * * *',
    ...Object.fromEntries(off.map((name) => [`COUNTERFOIL_SCHEDULES_${name}`, ''])),
    COUNTERFOIL_TEST_SECRET_KEY: facts.secret_key,
    COUNTERFOIL_TEST_PUBLIC_KEY: facts.public_key,
    COUNTERFOIL_TEST_ENCRYPTION_KEY: facts.encryption_key,
  };
  const serve = command({ dir, env }, ['serve', '--json']);
  serve.stderr?.resume();
  try {
    await firstLine(serve);
    await writeUploads(join(dir, 'data', 'inbox'), planned, {
      parallel: plan.parallel,
      onWritten: (done) => done % 100 === 0 && plan.say(`${done} of ${plan.count} uploads are whole`),
    });
    const book = await paid(facts, planned.amounts.size, plan.patienceMs);
    const counts = Map.groupBy(book, ({ reference }) => reference);
    return {
      uploads: plan.count,
      longStalls: planned.uploads.filter(({ stallMs }) => stallMs > settleMs).length,
      keptOpen: planned.uploads.filter(({ keepsOpen }) => keepsOpen).length,
      fromPartial: book.filter(({ reference, amount }) => planned.amounts.get(reference) !== amount).length,
      paidTwice: [...counts.values()].filter((some) => some.length > 1).length,
      missing: [...planned.amounts.keys()].filter((reference) => !counts.has(reference)).length,
      seconds: Math.round((performance.now() - began) / 1000),
    };
  } finally {
    for (const child of [serve, sandbox]) {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What the service has paid, once it is as many as were planned or nothing comes any more. */
export async function paid(
  { url, secret_key: key }: { url: string; secret_key: string },
  planned: number,
  patienceMs: number,
) {
  let before = -1;
  for (let quietMs = 0; quietMs < patienceMs; quietMs += 1000) {
    const book = await readBook(url, key).catch(() => null);
    if (book && book.length >= planned) break;
    if (book && book.length !== before) quietMs = 0;
    before = book?.length ?? before;
    await sleep(1000);
  }
  // What must not come has a moment more to come.
  await sleep(2000);
  return readBook(url, key);
}
