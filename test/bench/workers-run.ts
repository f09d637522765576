import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readBook } from '../chaos/book.ts';
import { orderUnknowns, settle, untilStill } from '../chaos/chaos.ts';
import { lookInto } from '../chaos/ledger-facts.ts';
import { command, finish, firstLine, type Place } from '../chaos/processes.ts';
import { createRandom } from '../chaos/random.ts';
import type { Setting } from '../chaos/setting.ts';
import { writeBatch } from './batch-file.ts';
import { familyMs } from './processor-time.ts';
import type { Answer } from './workers-service.ts';

const script = fileURLToPath(new URL('./workers-service.ts', import.meta.url));

export type Plan = {
  workers: number;
  payouts: number;
  concurrency: number;
  latencyMs: number;
  queueUrl: string;
  /** A database; a file where absent. */
  ledgerUrl?: string;
  /** Workers are killed and started again, and another one joins meanwhile. */
  kill: boolean;
  say(line: string): void;
};

export type Ran = {
  /** From the first POST to the last, and from a tenth of them to nine tenths. */
  perSecond: number;
  steadyPerSecond: number;
  /** Of all processors, from the file's arrival to the last POST. */
  busyPercent: number;
  /** Processor time for a payout: the daemons, the service and the servers together. */
  cpuMs: number;
  sentTwice: number;
  /** The ledger says that they were paid and the service does not, or the other way round. */
  lost: number;
  kills: number;
};

/** One batch in the inbox of the first of so many daemons, and how fast all of them together send it. */
export async function runWorkers(plan: Plan): Promise<Ran> {
  const dir = mkdtempSync(join(tmpdir(), 'counterfoil-workers-'));
  // Only a transfer that settles tells who was paid; without kills nobody asks.
  const sandbox = fork(script, [String(plan.latencyMs), plan.kill ? '500' : '3600000']);
  const daemons: ChildProcess[] = [];
  try {
    const ready = await heard(sandbox, 'ready');
    const place: Place = { dir, env: environmentOf(plan, ready) };
    await finish(place, ['init', dir]);
    await finish(place, ['status']);
    const ledger = plan.ledgerUrl ?? join(dir, 'data', 'ledger.db');
    const setting: Setting = { place, url: ready.url, key: ready.secretKey, ledger, sandbox };
    for (let n = 0; n < plan.workers; n++) daemons.push(await begin(setting, plan, n));
    const deeds = await send(plan, setting, daemons);
    const told = await ask(sandbox);
    const lost = plan.kill ? await countLost(setting, plan) : plan.payouts - told.references;
    return { ...speedOf(told.instants), ...deeds, sentTwice: told.posts - told.references, lost };
  } finally {
    await Promise.all(daemons.map(stop));
    sandbox.disconnect();
    await once(sandbox, 'exit');
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One daemon, once it says that it is ready; on PostgreSQL each is another machine, with a data folder of its own. */
async function begin(setting: Setting, plan: Plan, n: number): Promise<ChildProcess> {
  const apart = plan.ledgerUrl !== undefined && n > 0;
  const elsewhere = apart ? ['--data', join(setting.place.dir, `machine-${n}`)] : [];
  const daemon = command(setting.place, ['serve', '--json', ...elsewhere]);
  daemon.stderr?.resume();
  await firstLine(daemon);
  daemon.stdout?.resume();
  return daemon;
}

async function stop(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const gone = once(daemon, 'exit');
  daemon.kill('SIGTERM');
  await gone;
}

/** Drops the batch and waits until everything is sent. */
async function send(
  plan: Plan,
  setting: Setting,
  daemons: ChildProcess[],
): Promise<Pick<Ran, 'kills' | 'busyPercent' | 'cpuMs'>> {
  const ledger = lookInto(setting.ledger);
  const written = join(setting.place.dir, 'batch.csv');
  await writeBatch(written, plan.payouts);
  await rename(written, join(setting.place.dir, 'data', 'inbox', 'batch.csv'));
  const done = (): boolean => ledger.payouts() === plan.payouts && ledger.unfinished() === 0;
  while (ledger.begun() === 0) await sleep(20);
  const before = { busy: cpuTimes(), own: familyMs() };
  const random = createRandom(1);
  let kills = 0;
  // Who counts in the ledger takes processor time too.
  while (plan.kill && ledger.unfinished() > plan.payouts / 20) {
    await sleep(1000 + random() * 1500);
    if (kills === 1) daemons.push(await begin(setting, plan, daemons.length));
    const at = Math.floor(random() * daemons.length);
    kills += 1;
    daemons[at]?.kill('SIGKILL');
    daemons[at] = await begin(setting, plan, at);
  }
  for (; !done(); await sleep(200)) if (plan.kill) await untilStill(ledger, done);
  const busyPercent = busyOf(before.busy, cpuTimes());
  const cpuMs = (familyMs() - before.own) / plan.payouts;
  ledger.close();
  return { kills, busyPercent, cpuMs };
}

/** What an operator does after kills; then whoever the ledger says was paid must be in the service's book, and nobody else. */
async function countLost(setting: Setting, plan: Plan): Promise<number> {
  await settle(setting, plan.say);
  await orderUnknowns(setting, plan.say);
  await sleep(1000);
  await settle(setting, plan.say);
  const book = new Set((await readBook(setting.url, setting.key)).map(({ reference }) => reference));
  const ledger = lookInto(setting.ledger);
  let lost = Math.abs(plan.payouts - ledger.payouts());
  for (const { reference, state } of ledger.each())
    if ((state === 'success') !== book.has(reference)) lost += 1;
  ledger.close();
  return lost;
}

function environmentOf(plan: Plan, ready: Extract<Answer, { kind: 'ready' }>): Record<string, string> {
  const every = '* * * * * *';
  return {
    COUNTERFOIL_SERVICE_BASE_URL: ready.url,
    COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '0',
    COUNTERFOIL_SERVICE_CONCURRENCY: String(plan.concurrency),
    COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0',
    COUNTERFOIL_INTAKE_SETTLE_SECONDS: '0',
    COUNTERFOIL_RECEIVER_ENABLED: 'false',
    COUNTERFOIL_ADMIN_ENABLED: 'false',
    COUNTERFOIL_SCHEDULES_INTAKE: every,
    COUNTERFOIL_SCHEDULES_SUBMIT: every,
    COUNTERFOIL_SCHEDULES_FOLLOW_UP: plan.kill ? every : '',
    COUNTERFOIL_SCHEDULES_RECONCILE: '',
    COUNTERFOIL_SCHEDULES_RECONCILE_FULL: '',
    COUNTERFOIL_SCHEDULES_REPORT: '',
    COUNTERFOIL_QUEUE_URL: plan.queueUrl,
    ...(plan.ledgerUrl !== undefined && { COUNTERFOIL_LEDGER_URL: plan.ledgerUrl }),
    COUNTERFOIL_TEST_SECRET_KEY: ready.secretKey,
    COUNTERFOIL_TEST_PUBLIC_KEY: ready.publicKey,
    COUNTERFOIL_TEST_ENCRYPTION_KEY: ready.encryptionKey,
  };
}

function speedOf(instants: readonly number[]): { perSecond: number; steadyPerSecond: number } {
  const sorted = instants.toSorted((a, b) => a - b);
  const rate = (from: number, to: number): number =>
    ((to - from) * 1000) / Math.max(1, (sorted[to] ?? 0) - (sorted[from] ?? 0));
  const last = sorted.length - 1;
  const steadyPerSecond = rate(Math.round(last * 0.1), Math.round(last * 0.9));
  return { perSecond: rate(0, last), steadyPerSecond };
}

async function ask(sandbox: ChildProcess): Promise<Extract<Answer, { kind: 'told' }>> {
  const told = heard(sandbox, 'told');
  sandbox.send('tell');
  return told;
}

async function heard<K extends Answer['kind']>(
  sandbox: ChildProcess,
  kind: K,
): Promise<Extract<Answer, { kind: K }>> {
  const [answer]: Answer[] = await once(sandbox, 'message');
  if (answer?.kind !== kind) throw new Error(`the sandbox said ${answer?.kind}, not ${kind}`);
  return answer as Extract<Answer, { kind: K }>;
}

type Times = { busy: number; all: number };

function cpuTimes(): Times {
  const each = cpus().map(({ times }) => times);
  const all = each.reduce((sum, t) => sum + t.user + t.nice + t.sys + t.irq + t.idle, 0);
  return { busy: all - each.reduce((sum, t) => sum + t.idle, 0), all };
}

function busyOf(from: Times, to: Times): number {
  return (100 * (to.busy - from.busy)) / Math.max(1, to.all - from.all);
}
