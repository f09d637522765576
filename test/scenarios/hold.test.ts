import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { batchOf, csv, row, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { addBatch, born } from '../support/ledger.ts';

it('hold keeps a batch from being sent and release lets it go', async () => {
  const home = await makeHome();
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0)).batches[0];
  await home.json(['hold', batch], 0);
  expect((await home.json(['submit'], 4)).batches, 'it sends from none').toEqual([]);
  expect((await home.json(['status'], 4)).batches).toMatchObject([{ state: 'held', payouts: { held: 2 } }]);
  expect(home.sandbox.requests.posts).toBe(0);
  await home.json(['release', batch], 0);
  expect((await home.json(['submit'], 0)).batches).toEqual([
    expect.objectContaining({ payouts: { pending: 2 } }),
  ]);
  expect(home.sandbox.requests.posts).toBe(2);
  const late = await home.run(['hold', batch]);
  expect(late.code).toBe(0);
  expect(late.out).toMatch(/2 pending/);
});

it('hold --mode stops everything, status says so with exit 4, release --mode lifts it (P11)', async () => {
  const home = await makeHome();
  await home.json(['hold', '--mode'], 0);
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 4);
  expect(home.sandbox.requests.posts).toBe(0);
  expect((await home.json(['status'], 4)).halted).toBeTruthy();
  await home.json(['release', '--mode'], 0);
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(2);
  expect((await home.json(['status'], 0)).halted).toBeNull();
});

it('release of a batch ends with 4 while another halt still stands, and says so (P11)', async () => {
  const home = await makeHome();
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0)).batches[0];
  await home.json(['hold', batch], 0);
  await home.json(['hold', '--mode'], 0);
  const told = await home.run(['release', batch]);
  expect(told.code).toBe(4);
  expect(told.out).toMatch(
    /2 payouts released; .*\nSending is still halted since .*: held by a person\. .*release --mode/,
  );
  await home.json(['hold', batch], 0);
  expect(await home.json(['release', batch], 4)).toMatchObject({ halted: { kinds: ['person'] } });
  await home.json(['release', '--mode'], 0);
  expect(await home.json(['release', batch], 0)).toMatchObject({ halted: null });
});

it('a payout like a recent one under another reference holds the batch with a reason, until released', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('first.csv', csv(row(1)))], 0);
  const again = home.put('again.csv', csv(row(1, { reference: 'OTHER-1' }), row(2)));
  const checked = await home.json(['check', again], 0);
  expect(checked.files[0].duplicates).toEqual([expect.objectContaining({ row: 2, reference: 'OTHER-1' })]);
  const held = await home.json(['submit', again], 4);
  expect(held.batches).toEqual([expect.objectContaining({ state: 'held', payouts: { held: 2 } })]);
  expect(home.sandbox.requests.posts).toBe(1);
  const told = await home.run(['submit']);
  expect(told.code).toBe(4);
  expect(told.out).toMatch(/held: .*OTHER-1|held: .*PAY-0001/);
  await home.json(['release', held.batches[0].batch], 0);
  await home.json(['submit'], 0);
  expect([home.sandbox.requests.bodies('OTHER-1'), home.sandbox.requests.bodies('PAY-0002')]).toEqual([1, 1]);
  expect(home.sandbox.requests.bodies('PAY-0001')).toBe(1);
});

it('duplicate_window_days: 0 turns the check off', async () => {
  const home = await makeHome({}, { COUNTERFOIL_SUBMISSION_DUPLICATE_WINDOW_DAYS: '0' });
  await home.json(['submit', home.put('first.csv', csv(row(1)))], 0);
  const again = csv(row(1, { reference: 'OTHER-1' }), row(1, { reference: 'OTHER-2' }));
  const file = home.put('again.csv', again);
  expect((await home.json(['check', file], 0)).files[0]).toMatchObject({ duplicates: [], hold_reasons: [] });
  await home.json(['submit', file], 0);
  expect(home.sandbox.requests.posts).toBe(3);
});

it('P21: release and approve say of a cancelled batch that it is, and ask nobody for an approval', async () => {
  const home = await makeHome({}, { COUNTERFOIL_SUBMISSION_APPROVAL: 'always' });
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(1))], 4)).batches[0];
  await home.json(['cancel', batch, '--yes'], 0);
  for (const order of ['release', 'approve']) {
    const done = await home.run([order, batch]);
    expect(done, order).toMatchObject({ code: 2, out: '', err: expect.stringContaining('is cancelled') });
    expect(done.err, order).not.toMatch(/needs an approval|dropped it/);
  }
});

it('one payout above payout_limit holds the batch', async () => {
  const home = await makeHome({}, { COUNTERFOIL_SUBMISSION_PAYOUT_LIMIT: '{"NGN":"1500.00"}' });
  const held = await home.json(
    ['submit', home.put('pay.csv', csv(row(1), row(2, { amount: '1500.01' })))],
    4,
  );
  expect(held.batches[0]).toMatchObject({ state: 'held' });
  expect(home.sandbox.requests.posts).toBe(0);
});

it('P21: hold and release say how many were already sending', async () => {
  const home = await makeHome({ faults: { 'PAY-0001': 'hang' } });
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(3)), '--no-wait'], 0)).batches[0];
  home.start(['submit']);
  await until(
    20_000,
    () => home.sandbox.requests.posts,
    (posts) => posts === 1,
  );
  expect((await home.run(['hold', batch])).out).toMatch(/2 payouts held; 1 was already sending/);
  expect(await home.json(['hold', '--mode'], 0)).toMatchObject({ held: true, sending: 1 });
  expect(await home.json(['release', batch], 4)).toMatchObject({ released: 2, sending: 1 });
});

it('P23: a batch that is still being taken in is neither held, released nor cancelled', async () => {
  const home = await makeHome();
  const ledger = await openLedger(join(home.dir, 'data/ledger.db'), { now: () => born });
  await addBatch(ledger, ['R-1'], { id: 'half', phase: 'loading', state: 'held' });
  await ledger.close();
  for (const args of [
    ['hold', 'half'],
    ['release', 'half'],
    ['cancel', 'half', '--yes'],
    ['cancel', 'R-1', '--yes'],
  ]) {
    const done = await home.run(args);
    expect(done, args.join(' ')).toMatchObject({
      code: 2,
      err: expect.stringContaining('still being taken in'),
    });
  }
  expect((await home.json(['show', 'R-1'], 0)).payout.state).toBe('held');
});

it('a batch beside --mode is exit 2 and lifts or halts nothing', async () => {
  const home = await makeHome();
  for (const args of [
    ['hold', '--mode', 'pay'],
    ['release', '--mode', 'pay'],
  ])
    expect(await home.run(args)).toMatchObject({ code: 2, err: expect.stringContaining('not both') });
  expect((await home.json(['status'], 0)).halted).toBeNull();
});

it('status ends with 4 and the reason while a batch is held; reconcile and serve name a halt', async () => {
  const home = await makeHome({}, { COUNTERFOIL_SUBMISSION_PAYOUT_LIMIT: '{"NGN":"1000.00"}' });
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 4);
  const told = await home.run(['status']);
  expect(told).toMatchObject({
    code: 4,
    out: expect.stringMatching(/held: .*payout_limit.*counterfoil release/),
  });
  await home.json(['hold', '--mode'], 0);
  expect(await home.run(['reconcile'])).toMatchObject({ code: 4, out: expect.stringContaining('is halted') });
  const daemon = home.begin(['serve']);
  await daemon.line(/Nothing is sent: sending is halted /);
});

it('P15: a payout that the service shows before it was sent names itself, stays held, and is not called cancelled', async () => {
  const home = await makeHome();
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0)).batches[0];
  home.sandbox.book.plant({ reference: 'PAY-0001' });
  await home.json(['reconcile'], 4);
  const sent = await home.run(['submit']);
  const reason = /PAY-0001.*the service already shows a transfer under PAY-0001.*restore --adopt/;
  expect(sent).toMatchObject({ code: 4, out: expect.stringMatching(reason) });
  expect((await home.run(['status'])).out).toMatch(reason);
  expect((await home.run(['show', 'PAY-0001'])).out).toMatch(/the service already shows a transfer/);
  const released = await home.run(['release', batch]);
  expect(released).toMatchObject({
    code: 4,
    out: expect.stringMatching(/0 payouts released(.|\n)*1 stays held/),
  });
  expect(await home.run(['cancel', 'PAY-0001', '--yes'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/not cancelled: the service already shows/),
  });
  expect((await home.json(['show', 'PAY-0001'], 0)).payout.state).toBe('held');
  expect(home.sandbox.requests.posts).toBe(1);
});
