import { expect, it } from 'vitest';
import { batchOf, until } from '../support/cli.ts';
import { makeHome, sent, stateOf } from '../support/decided.ts';

it('P19: settle takes a person’s word on an unknown, and the service’s later word reopens it', async () => {
  const { home } = await sent('lost_answer', {}, 4);
  const args = ['settle', 'PAY-0001', '--as', 'not-paid'];
  expect((await home.run([...args, '--yes'])).err).toMatch(/--note/);
  expect((await home.run([...args, '--note', 'bank letter'])).code).toBe(2);
  expect(await stateOf(home, 'PAY-0001')).toBe('unknown');
  const done = await home.run([...args, '--note', 'bank letter', '--yes']);
  expect(done.code).toBe(0);
  expect(done.out).toMatch(
    /settling {3}as not paid: it counts as not paid on your word, and nothing is sent/,
  );
  expect(done.out, 'not beside the word that it is not paid').not.toMatch(/Do not pay it another way/);
  expect(done.out).toMatch(/PAY-0001: failed on the word of .*Later evidence from the service reopens it/);
  const settled = await home.json(['show', 'PAY-0001'], 0);
  expect(settled.payout).toMatchObject({ state: 'failed', evidence: 'person', message: 'bank letter' });
  await home.sandbox.settleAll();
  await home.run(['reconcile', '--json']);
  expect(await stateOf(home, 'PAY-0001')).toBe('success');
  await home.json(['settle', 'PAY-0001', '--as', 'paid', '--note', 'x', '--yes'], 2);
});

it('P21: cancel touches only what was never sent, and says how many were', async () => {
  const home = await makeHome({ faults: { 'PAY-0001': 'lost_before' } });
  const first = (await home.json(['submit', home.put('a.csv', batchOf(2))], 4)).batches[0].batch;
  const second = (await home.json(['submit', home.put('b.csv', batchOf(3, 11)), '--no-wait'], 0)).batches[0]
    .batch;
  expect((await home.run(['cancel', second])).code).toBe(2);
  expect(await home.json(['cancel', 'PAY-0011', '--yes'], 0)).toMatchObject({ state: 'cancelled' });
  expect(await home.json(['cancel', second, '--yes'], 0)).toMatchObject({ state: 'cancelled', cancelled: 2 });
  expect(await home.json(['cancel', first, '--yes'], 0)).toMatchObject({ cancelled: 0 });
  const late = await home.run(['cancel', 'PAY-0002', '--yes']);
  expect(late).toMatchObject({ code: 2, err: expect.stringContaining('only what was never sent') });
  const shown = await home.json(['retry', 'PAY-0001'], 2);
  const waiting = await home.run([
    ...['retry', 'PAY-0001', '--no-wait', '--yes'],
    ...['--evidence', shown.evidence_digest],
  ]);
  expect(waiting).toMatchObject({
    code: 4,
    out: `PAY-0001 again: held\nheld: ${first} waits for counterfoil release ${first}\n`,
  });
  const waits = await home.json(['cancel', first, '--yes'], 4);
  expect(waits).toMatchObject({ cancelled: 0, waiting: 1 });
  expect((await home.run(['cancel', 'nothing', '--yes'])).err).toContain('counterfoil status');
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.posts, 'nothing more goes out of a cancelled batch').toBe(2);
  expect(await home.json(['release', first], 0)).toMatchObject({ released: 1 });
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(3);
});

it('P21: cancel while the batch is being sent: each payout is either sent or cancelled, never both', async () => {
  const home = await makeHome({ latencyMs: 100 }, { COUNTERFOIL_SERVICE_CONCURRENCY: '1' });
  const file = home.put('pay.csv', batchOf(60));
  const { batch } = (await home.json(['submit', file, '--no-wait'], 0)).batches[0];
  const sending = home.start(['submit']);
  await until(
    10_000,
    () => home.sandbox.requests.posts,
    (n) => n > 3,
  );
  const told = await home.json(['cancel', batch, '--yes'], 0);
  expect(await sending.done).toMatchObject({ code: 0 });
  expect(told.cancelled).toBeGreaterThan(0);
  expect(home.sandbox.requests.posts + told.cancelled).toBe(60);
  const { payouts } = await home.json(['status'], 0);
  expect(payouts).toEqual({ cancelled: told.cancelled, pending: 60 - told.cancelled });
});
