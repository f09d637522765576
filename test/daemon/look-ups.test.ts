import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { askDetails } from '../../src/core/ledger/inquiries.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { batchOf } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { born } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { everySecond, serving } from '../support/serving.ts';

const unscheduled = Object.fromEntries(
  ['INTAKE', 'SUBMIT', 'FOLLOW_UP', 'RECONCILE', 'RECONCILE_FULL', 'REPORT'].map((job) => [
    `COUNTERFOIL_SCHEDULES_${job}`,
    '',
  ]),
);

it('look-ups that another process left behind are made within seconds, though nothing wakes this one', async () => {
  const count = 520;
  const home = await makeHome({ settleMs: 1 }, { COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '0' });
  await home.json(['submit', home.put('pay.csv', batchOf(count))], 0);
  await home.sandbox.settleAll();
  const { daemon } = await serving(home, unscheduled);
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), { now: () => born });
  const now = new Date().toISOString();
  await ledger.write(async (trx) => {
    const rows = await trx.selectFrom('payouts').select('id').execute();
    await askDetails(
      trx,
      rows.map(({ id }) => ({ payout_id: id, reason: 'webhook_says', due_at: now })),
    );
  });
  const paid = async (): Promise<number> => {
    const rows = await ledger.db.selectFrom('payouts').select('id').where('state', '=', 'success').execute();
    return rows.length;
  };
  await expect.poll(paid, { timeout: onPostgres ? 90_000 : 45_000, interval: 200 }).toBe(count);
  await ledger.close();
  daemon.signal('SIGTERM');
  expect((await daemon.done).code).toBe(0);
}, 150_000);

it('a stream of webhooks costs a few pages of the list, not a look-up for each', async () => {
  const count = 90;
  const home = await makeHome({ settleMs: 1 }, { COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '30' });
  await home.json(['submit', '--no-wait', home.put('pay.csv', batchOf(count))], 0);
  const questions = countQuestions();
  const { daemon } = await serving(home, { ...unscheduled, COUNTERFOIL_SCHEDULES_SUBMIT: everySecond });
  const paid = async (): Promise<number> => (await home.json(['status'], 0)).payouts.success ?? 0;
  await expect.poll(paid, { timeout: 30_000, interval: 500 }).toBe(count);
  daemon.signal('SIGTERM');
  expect((await daemon.done).code).toBe(0);
  expect(questions()).toBeLessThan(count / 4);
}, 60_000);

/** Counts what a service in this process is asked about transfers, from now on to the end of the test. */
function countQuestions(): () => number {
  let count = 0;
  const onRequest = (message: unknown): void => {
    if (/\/fetch_/.test(urlOf(message))) count += 1;
  };
  subscribe('http.server.request.start', onRequest);
  onTestFinished(() => void unsubscribe('http.server.request.start', onRequest));
  return () => count;
}

function urlOf(message: unknown): string {
  if (typeof message !== 'object' || message === null || !('request' in message)) return '';
  const { request } = message;
  return typeof request === 'object' && request !== null && 'url' in request ? String(request.url) : '';
}
