import { expect, it } from 'vitest';
import { setVerdicts } from '../../../src/books/run-verdicts.sql.ts';
import type { ListStanding } from '../../../src/core/domain/verdict.ts';
import { createJobsStore } from '../../../src/core/runtime/jobs.sql.ts';
import { beginRun, finishRun } from '../../../src/watching/listing/listings.sql.ts';
import { addDiscrepancy } from '../../books/support.ts';
import { addBatch, at } from '../../support/ledger.ts';
import { itWaits, makeSetting, type Setting, startWeb } from './setting.ts';

const hour = 3_600_000;

/** A reconciliation that ended now; `expression` null: a person's. */
async function reconciled(
  setting: Setting,
  { list = 'complete' as ListStanding, expression = '0 2 * * *' as string | null } = {},
): Promise<string> {
  const { ledger, clock } = setting;
  const now = clock.iso();
  const run = await ledger.write(async (trx) => {
    const id = await beginRun(trx, now);
    const whole = list === 'complete' ? 'reconciled' : 'not_compared';
    const currencies = [{ currency: 'NGN', verdict: whole, overturned: 0n } as const];
    await setVerdicts(trx, id, { whole, currencies });
    await finishRun(trx, id, now, list);
    return id;
  });
  const store = createJobsStore(ledger);
  await store.note('reconcile', { at: now, by: 'w-1', expression });
  const kind = list === 'complete' ? 'succeeded' : 'incomplete';
  await store.finished('reconcile', { startedAt: now, endedAt: now, kind, result: { run } });
  return run;
}

it('tells the result of a scheduled reconciliation once: verdict, money by state, what is open by age', async () => {
  const setting = await makeSetting({ COUNTERFOIL_ALERTS_DASHBOARD_URL: 'https://pay.example.com/' });
  await addBatch(setting.ledger, ['R-1', 'R-2'], { state: 'success', final_at: at(0) });
  await addBatch(setting.ledger, ['R-3'], { id: 'b-2', state: 'failed', final_at: at(0) });
  const run = await reconciled(setting);
  await setting.turn();
  await setting.turn();
  await setting.turn(await setting.open('w-2'));
  expect(setting.web.posts).toHaveLength(1);
  const text = setting.web.posts[0]?.text ?? '';
  expect(text).toMatch(/^Counterfoil test: reconciliation reconciled/);
  expect(text).toContain(`RECONCILIATION  ${run}`);
  expect(text).toContain('NGN: reconciled');
  expect(text).toContain('1 failed');
  expect(text).toContain('paid 3,000.00');
  expect(text).toContain('Discrepancies: none open');
  expect(text).toContain(`https://pay.example.com/runs/${run}`);
});

it('counts in the digest what the other faces call open, and names states as they do', async () => {
  const setting = await makeSetting();
  const { ledger } = setting;
  const [failed = 0n] = await addBatch(ledger, ['R-1'], { state: 'failed' });
  await addBatch(ledger, ['R-1-R2'], { id: 'b-2', state: 'ready', successor_of: failed });
  await addDiscrepancy(ledger, 'D-1', { severity: 'high' });
  await addDiscrepancy(ledger, 'D-2', { severity: 'high', state: 'acknowledged' });
  await reconciled(setting);
  await setting.turn();
  const text = setting.web.posts.map((one) => one.text).join('\n');
  expect(text).toContain('1 waiting under a new reference');
  expect(text).toContain('Open: 1 discrepancy, 1 of high severity');
});

it('says not checked, never none, when there was no list, and asks no heartbeat', async () => {
  const beats = await startWeb();
  const setting = await makeSetting({ COUNTERFOIL_ALERTS_HEARTBEAT_URL: beats.url });
  await reconciled(setting, { list: 'incomplete' });
  await setting.turn();
  expect(setting.web.posts.map(({ text }) => text).join()).toContain('Discrepancies: not checked');
  expect(setting.web.posts.map(({ text }) => text).join()).not.toContain('none open');
  expect(beats.posts).toEqual([]);
});

itWaits(
  'asks the heartbeat once after each complete reconciliation, a person’s too, and sends that no digest',
  async () => {
    const beats = await startWeb();
    const setting = await makeSetting({ COUNTERFOIL_ALERTS_HEARTBEAT_URL: beats.url });
    beats.answers.push({ status: 500 });
    await reconciled(setting, { expression: null });
    await setting.turn();
    setting.pass(60_000);
    await setting.turn();
    await setting.turn();
    expect(beats.posts.map(({ method }) => method)).toEqual(['GET', 'GET']);
    setting.pass(hour);
    await reconciled(setting, { expression: null });
    await setting.turn();
    expect(beats.posts).toHaveLength(3);
    expect(setting.web.posts).toEqual([]);
  },
);

it('reports no old reconciliation when alerts are switched on', async () => {
  const beats = await startWeb();
  const setting = await makeSetting({ COUNTERFOIL_ALERTS_HEARTBEAT_URL: beats.url });
  await reconciled(setting);
  setting.pass(25 * hour);
  // The schedule is late by now, which is an alert of its own.
  await setting.alerts.look({ daemon: false });
  await setting.alerts.deliver(new AbortController().signal);
  expect([...beats.posts, ...setting.web.posts]).toEqual([]);
});
