import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresServer } from '../support/postgres-server.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { batchOf } from './batches.ts';
import { type DrillHome, openHome } from './home.ts';
import { readSignals } from './signals.ts';
import { bookFaults, paidIn, timeTo, until } from './waiting.ts';

/**
 * Stops PostgreSQL and Redis in the middle of a batch for so long, and starts them again. All must be paid once, by the same
 * process; meanwhile it sends nothing, answers `/healthz`, and says in `/readyz` what it waits for.
 */
export async function outageOfServers(
  { server, redis }: { server: PostgresServer; redis: RedisServer },
  { seconds, payouts }: { seconds: number; payouts: number },
): Promise<{ lines: string[]; failed: boolean }> {
  if (!server.kill || !redis.kill) throw new Error('a server is not ours: unset POSTGRES_URL and REDIS_URL');
  const home = await openHome({
    COUNTERFOIL_LEDGER_URL: server.url,
    COUNTERFOIL_QUEUE_URL: redis.url,
    COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '60',
    COUNTERFOIL_SUBMISSION_CANARY: '0',
  });
  const faults: string[] = [];
  const sent = (): number => home.sandbox.book.transfers().length;
  try {
    await home.serve.start();
    const pid = home.serve.pid();
    home.drop('outage.csv', batchOf('OUTAGE', payouts));
    await until('half of the batch is sent', async () => sent() > payouts / 4);
    await Promise.all([server.kill(), redis.kill()]);
    const began = performance.now();
    const waiting = await timeTo('/readyz said so', () => saysAway(home));
    const before = sent();
    await sleep(Math.max(0, seconds * 1000 - (performance.now() - began)));
    if (sent() !== before) faults.push(`${sent() - before} payouts were sent without a ledger`);
    if ((await fetch(`${home.admin}/healthz`)).status !== 200) faults.push('/healthz did not answer');
    if (before >= payouts) faults.push('the batch was sent before the outage');
    await Promise.all([server.start(), redis.start()]);
    const back = await timeTo('ready again', () => isReady(home));
    const done = await timeTo('all settled', async () => (await paidIn(home)) === payouts);
    faults.push(...bookFaults(home, payouts));
    if (home.serve.pid() !== pid) faults.push('serve was started again');
    const lines = [
      '| PostgreSQL and Redis away | /readyz said so | ready again | all settled |',
      `| ${seconds} s | ${waiting.toFixed(1)} s | ${back.toFixed(1)} s | ${done.toFixed(1)} s |`,
      ...faults.map((fault) => `FAILED  ${fault}`),
    ];
    if (faults.length > 0) lines.push(home.serve.log().slice(-3000));
    return { lines, failed: faults.length > 0 };
  } catch (error) {
    throw new Error(`${String(error)}\n${home.serve.log().slice(-4000)}`, { cause: error });
  } finally {
    await home.close();
  }
}

async function isReady(home: DrillHome): Promise<boolean> {
  return (await readSignals(home)).readyz?.ready ?? false;
}

async function saysAway(home: DrillHome): Promise<boolean> {
  const { readyz } = await readSignals(home);
  return (
    readyz?.problems.some(({ problem }) => problem.includes("the ledger's database has been away")) ?? false
  );
}
