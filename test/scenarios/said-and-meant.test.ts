import { join } from 'node:path';
import { expect, it } from 'vitest';
import { batchOf } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

it('check --quiet says nothing of a good file, and what is wrong with a bad one', async () => {
  const home = await makeHome();
  const twice = home.put('twice.csv', batchOf(2).replace(/PAY-0002,[^,]*/, 'PAY-0002,0000000000'));
  expect((await home.run(['check', twice])).out).toContain('2 warnings: ');
  expect(await home.run(['check', '--quiet', twice])).toMatchObject({ code: 0, out: '' });
  const bad = home.put('bad.csv', batchOf(1).replace('NGN', 'XXX'));
  const refused = await home.run(['check', '--quiet', bad]);
  expect(refused.code).toBe(3);
  expect(refused.out).toMatch(/^bad\.csv +refused: 1 problem\n/);
});

it('submit --json without files lists the batches it took in or sent from, and no other', async () => {
  const home = await makeHome();
  const { batches } = await home.json(['submit', home.put('held.csv', batchOf(3)), '--no-wait'], 0);
  await home.run(['hold', batches[0].batch, '--yes']);
  home.put('data/inbox/new.csv', batchOf(2, 10));
  const second = await home.run(['submit', '--json']);
  expect(JSON.parse(second.out).batches.map((one: { file: string }) => one.file)).toEqual(['new.csv']);
  const third = await home.run(['submit', '--json']);
  expect(JSON.parse(third.out).batches, 'the held one was there before').toEqual([]);
});

it('verify says why there are more sends than payouts', async () => {
  const home = await makeHome({ faults: { 'PAY-0001': 'edge_429_once' } });
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  const { out } = await home.run(['verify']);
  expect(out).toMatch(/ +2 +3 {2}proven +[0-9a-f]{12}$/m);
  expect(out).toContain(': 1 proven not taken by the service');
  expect((await home.json(['verify'], 0)).batches[0].certificate).toMatchObject({ sends: 3, not_taken: 1 });
});

it('a mistyped key is named with its file and line', async () => {
  const home = await makeHome();
  home.put(
    'config/counterfoil.yaml',
    '# mine\nmode: test\nservice:\n  timeout_ms: 1000\n  timeout_mss: 7\nintke: {}\n',
  );
  const { code, err } = await home.run(['status']);
  const file = join(home.dir, 'config/counterfoil.yaml');
  expect(code).toBe(2);
  expect(err).toContain(`${file}, line 5: service.timeout_mss: no such key`);
  expect(err).toContain(`${file}, line 6: intke: no such key`);
});

it('show masks the account in all it prints, unless it is asked for in full', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 0);
  const { payout } = await home.json(['show', 'PAY-0001', '--full-accounts'], 0);
  const account: string = payout.account_number;
  expect(account).toMatch(/^\d{10}$/);
  for (const args of [
    ['show', 'PAY-0001'],
    ['show', 'PAY-0001', '--json'],
  ]) {
    const masked = await home.run(args);
    expect(masked.out).toContain(`******${account.slice(-4)}`);
    expect(masked.out).not.toContain(account);
    expect((await home.run([...args, '--full-accounts'])).out).toContain(account);
  }
});

it('doctor says that the address of an example is a placeholder', async () => {
  const home = await makeHome({}, { COUNTERFOIL_SERVICE_BASE_URL: 'https://payments.example.com' });
  const { out } = await home.run(['doctor']);
  expect(out).toMatch(/service +payments\.example\.com is a placeholder/);
  expect(out).toContain('set service.base_url');
});

it('reconcile counts one pass as one', async () => {
  const home = await makeHome({}, { COUNTERFOIL_RECONCILIATION_MAX_PASSES: '1' });
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 0);
  expect((await home.run(['reconcile'])).out).toContain('read in 1 pass, list ');
});
