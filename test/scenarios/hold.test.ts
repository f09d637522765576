import { expect, it } from 'vitest';
import { batchOf, csv, makeHome, row } from '../support/cli.ts';

it('hold keeps a batch from being sent and release lets it go', async () => {
  const home = await makeHome();
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0)).batches[0];
  await home.json(['hold', batch], 0);
  expect((await home.json(['submit'], 4)).batches).toEqual([
    expect.objectContaining({ state: 'held', payouts: { held: 2 } }),
  ]);
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
  await home.json(['submit', home.put('again.csv', csv(row(1, { reference: 'OTHER-1' })))], 0);
  expect(home.sandbox.requests.posts).toBe(2);
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
