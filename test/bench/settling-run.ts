import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lookInto } from '../chaos/ledger-facts.ts';
import { command, finish, firstLine, type Place } from '../chaos/processes.ts';
import { writeBatch } from './batch-file.ts';
import type { Told } from './settling-service.ts';

const script = fileURLToPath(new URL('./settling-service.ts', import.meta.url));
/** The service settles a payout so long after its order. */
const settleMs = 2000;

export type Plan = {
  workers: number;
  payouts: number;
  latencyMs: number;
  /** 0: without a limit. */
  requestsPerSecond: number;
  queueUrl: string;
  /** A database; a file where absent. */
  ledgerUrl?: string;
  /** Every daemon but the first, which receives, is killed and started again; with one daemon that one is. */
  kill: boolean;
  /** How long to wait, at most, until all payouts are settled. */
  patienceMs: number;
};

export type Settled = {
  seconds: number;
  secondsToSend: number;
  lookUps: number;
  pages: number;
  /** All requests, the orders included. */
  requests: number;
  /** Unknown: a killed daemon had meant to send them. Those that never left wait for a person. */
  unknown: number;
  /** Neither settled nor unknown. */
  unsettled: number;
  kills: number;
};

/** One batch, its webhooks, and how long so many daemons together take until every payout is final. */
export async function runSettling(plan: Plan): Promise<Settled> {
  const dir = mkdtempSync(join(tmpdir(), 'counterfoil-settling-'));
  const port = await freePort();
  const webhooks = `http://127.0.0.1:${port}`;
  const service = fork(script, [String(plan.latencyMs), String(settleMs), webhooks]);
  const daemons: ChildProcess[] = [];
  try {
    const ready = await told(service, 'ready');
    const place: Place = { dir, env: environmentOf(plan, ready, port) };
    await finish(place, ['init', dir]);
    await finish(place, ['status']);
    for (let n = 0; n < plan.workers; n++) daemons.push(await begin(place, plan, n));
    const ledger = lookInto(plan.ledgerUrl ?? join(dir, 'data', 'ledger.db'));
    const began = performance.now();
    await writeBatch(join(dir, 'batch.csv'), plan.payouts);
    await rename(join(dir, 'batch.csv'), join(dir, 'data', 'inbox', 'batch.csv'));
    let kills = 0;
    let sentAt = 0;
    const settled = (): number => ledger.inState('success') + ledger.inState('failed');
    while (settled() < plan.payouts && performance.now() - began < plan.patienceMs) {
      await sleep(500);
      if (sentAt === 0 && ledger.payouts() === plan.payouts && ledger.unfinished() === 0)
        sentAt = performance.now();
      if (!plan.kill || settled() < (plan.payouts * (kills + 1)) / 5 || kills === 3) continue;
      const at = plan.workers === 1 ? 0 : 1 + (kills % (plan.workers - 1));
      daemons[at]?.kill('SIGKILL');
      kills += 1;
      daemons[at] = await begin(place, plan, at);
    }
    const asked = await ask(service);
    const unknown = ledger.inState('unknown');
    const unsettled = plan.payouts - settled() - unknown;
    ledger.close();
    const requests = asked.posts + asked.details + asked.pages + asked.others;
    return {
      seconds: (performance.now() - began) / 1000,
      secondsToSend: (sentAt - began) / 1000,
      ...{ lookUps: asked.details, pages: asked.pages, requests, unknown, unsettled, kills },
    };
  } finally {
    await Promise.all(daemons.map(stop));
    service.disconnect();
    await once(service, 'exit');
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One daemon, once it is ready. Only the first receives; on PostgreSQL each has a data folder of its own. */
async function begin(place: Place, plan: Plan, n: number): Promise<ChildProcess> {
  const apart = plan.ledgerUrl !== undefined && n > 0;
  const elsewhere = apart ? ['--data', join(place.dir, `machine-${n}`)] : [];
  const env = { ...place.env, COUNTERFOIL_RECEIVER_ENABLED: n === 0 ? 'true' : 'false' };
  const daemon = command({ ...place, env }, ['serve', '--json', ...elsewhere]);
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

function environmentOf(
  plan: Plan,
  ready: Extract<Told, { kind: 'ready' }>,
  port: number,
): Record<string, string> {
  return {
    COUNTERFOIL_SERVICE_BASE_URL: ready.url,
    COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: String(plan.requestsPerSecond),
    COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0',
    COUNTERFOIL_INTAKE_SETTLE_SECONDS: '0',
    COUNTERFOIL_RECEIVER_PORT: String(port),
    COUNTERFOIL_ADMIN_ENABLED: 'false',
    COUNTERFOIL_SCHEDULES_INTAKE: '* * * * * *',
    COUNTERFOIL_SCHEDULES_SUBMIT: '* * * * * *',
    // What a killed daemon was sending is unknown, and asked about after a minute.
    COUNTERFOIL_SCHEDULES_FOLLOW_UP: '*/5 * * * * *',
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

async function ask(service: ChildProcess): Promise<Extract<Told, { kind: 'asked' }>> {
  const answer = told(service, 'asked');
  service.send('tell');
  return answer;
}

async function told<K extends Told['kind']>(
  service: ChildProcess,
  kind: K,
): Promise<Extract<Told, { kind: K }>> {
  const [answer]: Told[] = await once(service, 'message');
  if (answer?.kind !== kind) throw new Error(`the service said ${answer?.kind}, not ${kind}`);
  return answer as Extract<Told, { kind: K }>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
