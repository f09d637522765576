import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../../src/core/runtime/clock.ts';
import { applyWebhooks } from '../../src/watching/webhooks/apply-inbox.ts';
import { plainKeys, secretKey, startReceiver } from '../support/receiver.ts';
import { addListed } from './listed-payouts.ts';

/** `applying` applies what it stores, as `serve` does; of so many payouts (the second argument) it knows. */
export type Kind = 'bare' | 'ours' | 'applying';
/** Told once, when it listens; the process ends when its parent lets go of it. */
export type Listening = { kind: 'listening'; port: number; ledgerFile: string };
/** Told when asked: since the last time, or the start. */
export type Told = { kind: 'told'; cpuMs: number; loopMaxMs: number; unapplied: number };

const [kind, payouts] = [process.argv[2], Number(process.argv[3])];
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
let cpu = process.cpuUsage();
const unapplied = kind === 'bare' ? startBare() : await startOurs();

process.on('message', () => void unapplied().then(tellFigures));

async function startOurs(): Promise<() => Promise<number>> {
  const clock = systemClock();
  let running: Awaited<ReturnType<typeof startReceiver>> | undefined;
  let isApplying = false;
  let again = false;
  const apply = async (): Promise<void> => {
    again = true;
    if (isApplying) return;
    isApplying = true;
    while (again && running) {
      again = false;
      await applyWebhooks({ ledger: running.ledger, clock });
      await clock.sleep(50);
    }
    isApplying = false;
  };
  const started = await startReceiver({
    keys: { test: plainKeys },
    ...(kind === 'applying' && { onStored: apply }),
  });
  running = started;
  if (kind === 'applying') await addListed(started.ledger, payouts);
  process.on('disconnect', () => void started.remove().then(() => process.exit(0)));
  send({ kind: 'listening', port: started.port, ledgerFile: started.ledger.path });
  return async () => {
    const { waiting } = await started.ledger.db
      .selectFrom('webhooks')
      .select((on) => on.fn.countAll<bigint>().as('waiting'))
      .where('applied_at', 'is', null)
      .executeTakeFirstOrThrow();
    return Number(waiting);
  };
}

/** The least that any receiver must do: no ledger, no limits, no evidence. */
function startBare(): () => Promise<number> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const given = Buffer.from(String(request.headers.payloadsignature), 'hex');
      const right = timingSafeEqual(
        createHmac('sha512', secretKey).update(Buffer.concat(chunks)).digest(),
        given,
      );
      response.writeHead(right ? 200 : 401, { 'content-type': 'text/plain' }).end('success');
    });
  });
  server.listen(0, '127.0.0.1', () =>
    send({ kind: 'listening', port: (server.address() as AddressInfo).port, ledgerFile: '' }),
  );
  process.on('disconnect', () => process.exit(0));
  return async () => 0;
}

function tellFigures(waiting: number): void {
  const spent = process.cpuUsage(cpu);
  send({
    kind: 'told',
    cpuMs: (spent.user + spent.system) / 1000,
    loopMaxMs: delay.max / 1e6,
    unapplied: waiting,
  });
  cpu = process.cpuUsage();
  delay.reset();
}

function send(message: Listening | Told): void {
  process.send?.(message);
}
