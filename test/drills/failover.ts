import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresServer } from '../support/postgres-server.ts';
import { startStandby } from '../support/postgres-standby.ts';
import { batchOf } from './batches.ts';
import { floatingAddress } from './floating-address.ts';
import { type DrillHome, openHome } from './home.ts';
import { readSignals } from './signals.ts';
import { bookFaults, paidIn, timeTo, until } from './waiting.ts';

/** How long nothing may leave before a person has adopted the ledger. */
const watchMs = 10_000;

/**
 * Kills PostgreSQL in the middle of a batch and promotes a standby behind the same address. The standby may lack the last
 * commits, so nothing may be sent until a person adopts the ledger (P25). Then all must be paid once.
 */
export async function failOver(
  primary: PostgresServer,
  { payouts }: { payouts: number },
): Promise<{ lines: string[]; failed: boolean }> {
  if (!primary.kill) throw new Error('the PostgreSQL server is not ours: unset POSTGRES_URL');
  const standby = await startStandby(primary);
  const address = await floatingAddress(primary.url);
  const home = await openHome({
    COUNTERFOIL_LEDGER_URL: address.url,
    COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '60',
  });
  const faults: string[] = [];
  const sent = (): number => home.sandbox.book.transfers().length;
  try {
    await home.serve.start();
    const pid = home.serve.pid();
    home.drop('failover.csv', batchOf('FAILOVER', payouts));
    await until('a quarter of the batch is sent', async () => sent() > payouts / 4);
    await primary.kill();
    await standby.promote();
    address.pointTo(standby.url);
    const asked = await timeTo('/readyz asked to adopt', () => asksToAdopt(home));
    const before = sent();
    await sleep(watchMs);
    if (sent() !== before)
      faults.push(`${sent() - before} payouts were sent before anybody adopted the ledger`);
    if (home.serve.pid() !== pid) faults.push('serve was started again by itself');
    await home.serve.end('SIGTERM');
    await expectCode(home, 4, 'restore', '--adopt', '--yes');
    await expectCode(home, 4, 'reconcile', '--full');
    const ordered = await orderUnknowns(home);
    await home.serve.start();
    const done = await timeTo('all settled', async () => (await paidIn(home)) === payouts);
    await expectCode(home, 0, 'verify');
    faults.push(...bookFaults(home, payouts));
    const lines = [
      '| sent before | /readyz asked to adopt | ordered again by a person | all settled |',
      `| ${before} of ${payouts} | ${asked.toFixed(1)} s | ${ordered} | ${done.toFixed(1)} s |`,
      ...faults.map((fault) => `FAILED  ${fault}`),
    ];
    return { lines, failed: faults.length > 0 };
  } catch (error) {
    throw new Error(`${String(error)}\n${home.serve.log().slice(-4000)}`, { cause: error });
  } finally {
    await home.close();
    address.close();
    await standby.stop();
  }
}

async function asksToAdopt(home: DrillHome): Promise<boolean> {
  const { readyz } = await readSignals(home);
  return readyz?.problems.some(({ fix }) => fix.includes('restore --adopt')) ?? false;
}

async function expectCode(home: DrillHome, expected: number, ...args: string[]): Promise<void> {
  const { code, out, err } = await home.run(...args);
  if (code !== expected) throw new Error(`${args.join(' ')} ended with ${code}: ${err || out}`);
}

/** A person orders what neither ledger nor list knows of, on the evidence shown. Returns how many. */
async function orderUnknowns(home: DrillHome): Promise<number> {
  const { out } = await home.run('batches', '--json');
  const { batches }: { batches: { batch: string }[] } = JSON.parse(out);
  let ordered = 0;
  for (const { batch } of batches) {
    const retry = ['retry', '--batch', batch, '--state', 'unknown'];
    const looked = await home.run(...retry, '--json');
    const { evidence_digest: digest, evidence = [] } = JSON.parse(looked.out || '{}');
    if (typeof digest !== 'string') continue;
    await expectCode(home, 0, ...retry, '--yes', '--evidence', digest);
    ordered += evidence.length;
  }
  return ordered;
}
