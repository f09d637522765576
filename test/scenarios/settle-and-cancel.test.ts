import { expect, it } from 'vitest';
import { batchOf, until } from '../support/cli.ts';
import { agree, makeHome, stateOf } from '../support/decided.ts';

/** The settings by which another home uses the service of this one, as the same customer. */
function sameService({ env }: { env: Record<string, string> }): Record<string, string> {
  const names = ['SERVICE_BASE_URL', 'TEST_SECRET_KEY', 'TEST_PUBLIC_KEY', 'TEST_ENCRYPTION_KEY'];
  return Object.fromEntries(names.map((name) => [`COUNTERFOIL_${name}`, env[`COUNTERFOIL_${name}`] ?? '']));
}

it('P19: settle takes a person’s word on an unknown, and the service’s later word reopens it', async () => {
  const home = await makeHome({ faults: { 'PAY-0001': 'lost_answer' }, settleMs: 60_000 });
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 4);
  const args = ['settle', 'PAY-0001', '--as', 'not-paid'];
  expect((await home.run([...args, '--yes'])).err).toMatch(/--note/);
  expect((await home.run([...args, '--note', 'bank letter'])).code).toBe(2);
  expect(await stateOf(home, 'PAY-0001'), 'the service was asked first').toBe('pending');
  const done = await home.run([...args, '--note', 'bank letter', '--yes']);
  expect(done.code).toBe(0);
  expect(done.out).toMatch(
    /settling {3}as not paid: it counts as not paid on your decision, and nothing is sent/,
  );
  expect(done.out).toMatch(/WARNING {4}the service shows it pending now/);
  expect(done.out, 'not beside the word that it is not paid').not.toMatch(/Do not pay it another way/);
  expect(done.out).toMatch(/PAY-0001: failed, decided by .*\nLater evidence from the service reopens it/);
  const settled = await home.json(['show', 'PAY-0001'], 0);
  expect(settled.payout).toMatchObject({ state: 'failed', evidence: 'person', message: 'bank letter' });
  await home.sandbox.settleAll();
  await home.run(['reconcile', '--json']);
  expect(await stateOf(home, 'PAY-0001')).toBe('success');
  const again = (as: string) => ['settle', 'PAY-0001', '--as', as, '--note', 'x', '--yes'];
  const refused = await home.run(again('not-paid'));
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringMatching(/is paid by listing\+details.*counterfoil discrepancies resolve D-/),
  });
  expect(await home.json(again('paid'), 0), 'nothing needs settling').toMatchObject({ state: 'success' });
});

it('P32: what the service lost after it took it is closed by a person, and keeps no exit code at 4', async () => {
  const faults = { 'PAY-0001': 'vanish' } as const;
  const home = await makeHome({ faults }, { COUNTERFOIL_RECONCILIATION_MISSING_GRACE_MINUTES: '0' });
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.sandbox.settleAll();
  await until(
    10_000,
    async () => (await home.run(['reconcile', '--full', '--json'])).code,
    (code) => code === 4,
  );
  expect((await home.json(['status'], 4)).discrepancies).toEqual({ missing_at_service: 1 });
  const retry = await home.run(['retry', 'PAY-0001']);
  expect(retry).toMatchObject({ code: 2, err: expect.stringContaining('counterfoil settle PAY-0001') });
  expect(`${retry.err}${retry.out}`, 'against its own evidence').not.toContain('the service has it');
  const cancel = await home.run(['cancel', 'PAY-0001', '--yes']);
  expect(cancel).toMatchObject({ code: 2, err: expect.stringContaining('counterfoil settle PAY-0001') });
  const note = ['--as', 'not-paid', '--note', 'their letter', '--yes'];
  expect(await home.json(['settle', 'PAY-0001', ...note], 0)).toMatchObject({ state: 'failed' });
  expect((await home.json(['reconcile', '--full'], 0)).discrepancies.open).toEqual({});
  await home.json(['submit'], 0);
  await home.json(['status'], 0);
  await home.json(['verify'], 0);
  expect((await home.run(['retry', 'PAY-0001', '--json'])).code, 'no licence to pay again').toBe(2);
});

it('P32: what was paid by hand under the same reference is closed as paid, and keeps no exit code at 4', async () => {
  const home = await makeHome();
  const file = home.put('pay.csv', batchOf(1));
  const { batch } = (await home.json(['submit', file, '--no-wait'], 0)).batches[0];
  const other = await makeHome({}, sameService(home));
  await other.json(['submit', other.put('pay.csv', batchOf(1))], 0);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 4);
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.posts).toBe(1);
  const released = await home.run(['release', batch]);
  expect(released.out).toContain('counterfoil settle PAY-0001');
  const args = ['settle', 'PAY-0001', '--as', 'paid', '--note', 'by hand', '--yes'];
  expect(await home.json(args, 0)).toMatchObject({ state: 'success' });
  await home.json(['submit'], 0);
  expect((await home.json(['reconcile', '--full'], 0)).discrepancies.open).toEqual({});
  await home.json(['status'], 0);
  await home.json(['verify'], 0);
  expect(home.sandbox.requests.posts).toBe(1);
});

it('P32: what was never sent and counts as paid on a person’s word sends nobody to an empty list', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(1)), '--no-wait'], 0);
  await home.json(['settle', 'PAY-0001', '--as', 'paid', '--note', 'paid in cash', '--yes'], 0);
  const run = await home.run(['reconcile']);
  expect(run).toMatchObject({ code: 0, out: expect.stringMatching(/NGN {2}reconciled {2}none/) });
  expect(run.out).toContain('Total difference −1,001.50: Paid by other means −1,001.50');
  expect(run.out).toMatch(/Nothing is open\.[\s\S]*\n\nReport: .*report\.html\n$/);
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
  expect(await home.json(['cancel', 'PAY-0002', '--yes'], 2)).toMatchObject({
    cancelled: 0,
    error: expect.stringContaining('only what was never sent'),
  });
  const shown = await home.json(['retry', 'PAY-0001'], 2);
  const waiting = await home.run([
    ...['retry', 'PAY-0001', '--no-wait', '--yes'],
    ...['--evidence', shown.evidence_digest],
  ]);
  expect(waiting).toMatchObject({
    code: 4,
    out: `PAY-0001 again: held\nheld: ${first} waits for counterfoil release ${first}\n\nNext: counterfoil status\n`,
  });
  const withdrawn = await home.json(['cancel', first, '--yes'], 4);
  expect(withdrawn).toMatchObject({ cancelled: 0, withdrawn: 1 });
  expect((await home.run(['cancel', 'nothing', '--yes'])).err).toContain('counterfoil batches');
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.posts, 'nothing more goes out of a cancelled batch').toBe(2);
  await agree(home, 4, 'PAY-0001', '--no-wait');
  expect(await home.json(['release', first], 0)).toMatchObject({ released: 1 });
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts, 'two decisions of a person let it go').toBe(3);
});

it.each(['its batch', 'PAY-0001'])(
  'P21: nothing goes out after cancel of %s, a retry that was ordered before neither',
  async (what) => {
    const home = await makeHome({ faults: { 'PAY-0001': 'lost_before' } });
    const { batch } = (await home.json(['submit', home.put('a.csv', batchOf(1))], 4)).batches[0];
    await agree(home, 0, 'PAY-0001', '--no-wait');
    expect(await stateOf(home, 'PAY-0001')).toBe('ready');
    const name = what === 'PAY-0001' ? what : batch;
    const done = await home.run(['cancel', name, '--yes']);
    expect(done.code, 'it may have been paid before: a person must close it').toBe(4);
    expect(done.out).toMatch(
      /retry.*is cancelled.*unknown.*an earlier attempt may have been taken.*counterfoil settle/,
    );
    expect(done.out).not.toMatch(/waits to go out/);
    await home.json(['submit'], 4);
    expect(home.sandbox.requests.posts, 'the first POST only').toBe(1);
    const { payout } = await home.json(['show', 'PAY-0001'], 0);
    expect(payout).toMatchObject({
      state: 'unknown',
      message: expect.stringContaining('its retry was cancelled by'),
    });
    await home.json(['settle', 'PAY-0001', '--as', 'not-paid', '--note', 'their letter', '--yes'], 0);
    await home.json(['verify'], 0);
  },
);

it('P21: what the service shows already stays, and is held once its batch is cancelled', async () => {
  const home = await makeHome();
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0)).batches[0];
  const other = await makeHome({}, sameService(home));
  await other.json(['submit', other.put('pay.csv', batchOf(1))], 0);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 4);
  expect(await home.json(['cancel', batch, '--yes'], 4)).toMatchObject({ cancelled: 1, listed: 1 });
  expect(await stateOf(home, 'PAY-0001')).toBe('held');
});

it('P21: cancel while the batch is being sent: each payout is either sent or cancelled, never both', async () => {
  const home = await makeHome({ latencyMs: 100 }, { COUNTERFOIL_SERVICE_CONCURRENCY: '1' });
  const file = home.put('pay.csv', batchOf(60));
  const { batch } = (await home.json(['submit', file, '--no-wait'], 0)).batches[0];
  const sending = home.begin(['submit']);
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
