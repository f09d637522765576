import { expect, it } from 'vitest';
import { batchOf, csv, flat, type Home, row } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

const extras = (paths: Record<string, string>) => ({ COUNTERFOIL_SERVICE_EXTRAS: JSON.stringify(paths) });
const balance = extras({ balance: 'wallet_balance' });
const names = extras({ account_name: 'account_name' });
const both = extras({ balance: '/wallet_balance', account_name: 'account_name' });

/** The sandbox knows the accounts of these rows under the name that the rows have. */
function knowAll(home: Home, count: number, name = 'OKONKWO ADAEZE CHIOMA'): void {
  for (let n = 1; n <= count; n++) home.sandbox.extras.names.set(String(1_000_000_000 + n), name);
}
const told = async (home: Home): Promise<string[]> =>
  (await home.json(['batches'], 0)).batches.map(({ batch }: { batch: string }) => batch);
async function holdReasons(home: Home, batch: string): Promise<string> {
  const { batches } = await home.json(['status'], 4);
  return flat(batches.find((one: { batch: string }) => one.batch === batch).hold_reasons.join(' '));
}

it('asks nothing while both extras are off', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  expect(home.sandbox.requests.posts).toBe(2);
  expect(home.sandbox.extras.asked).toEqual([]);
});

it('holds a batch that the wallet cannot pay, says both amounts, and pays it once a person releases it', async () => {
  const home = await makeHome({}, balance);
  home.sandbox.extras.wallet.set('NGN', '2000.00');
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(2))], 4);
  const { batch } = batches[0];
  expect(batches[0]).toMatchObject({ state: 'held', payouts: { held: 2 } });
  expect(await holdReasons(home, batch)).toContain(
    'the wallet holds NGN 2,000.00, but this batch needs NGN 2,004.00: put money into it',
  );
  expect(home.sandbox.requests.posts).toBe(0);
  await home.json(['release', batch], 0);
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(2);
  expect(home.sandbox.extras.asked).toEqual(['wallet_balance']);
});

it('pays a batch that takes the wallet to zero, and counts what earlier batches still take', async () => {
  const home = await makeHome({}, { ...balance, COUNTERFOIL_SUBMISSION_CANARY: '1' });
  home.sandbox.extras.wallet.set('NGN', '2004.00');
  await home.json(['submit', home.put('one.csv', batchOf(2))], 0);
  expect(home.sandbox.requests.posts).toBe(1);
  home.sandbox.extras.wallet.set('NGN', '3000.00');
  const { batches } = await home.json(['submit', home.put('two.csv', batchOf(1, 3))], 4);
  expect(await holdReasons(home, batches[0].batch)).toContain(
    'needs NGN 1,003.50, and earlier batches NGN 1,002.50',
  );
  expect(home.sandbox.requests.posts).toBe(1);
});

it('pays by a balance without a currency where only one is possible, and holds what it does not cover', async () => {
  const home = await makeHome({}, balance);
  home.sandbox.extras.faults.set('wallet_balance', 'no_currency');
  home.sandbox.extras.wallet.set('NGN', '3000.00');
  await home.json(['submit', home.put('one.csv', batchOf(2))], 0);
  expect(home.sandbox.requests.posts).toBe(2);
  const { batches } = await home.json(['submit', home.put('two.csv', batchOf(1, 3))], 4);
  expect(await holdReasons(home, batches[0].batch)).toContain(
    'the wallet holds NGN 996.00, but this batch needs NGN 1,003.50',
  );
});

it.each([
  ['another batch pays in ZAR', {}, true],
  ['the configuration names ZAR', { COUNTERFOIL_SUBMISSION_DAILY_LIMIT: '{"ZAR":"5000.00"}' }, false],
])(
  'a balance without a currency proves nothing where %s: it says so, and names both ends',
  async (_, more, zar) => {
    const home = await makeHome({}, { ...balance, ...more });
    home.sandbox.extras.faults.set('wallet_balance', 'no_currency');
    const rand = csv(row(9).replace('058', '250655').replace('NGN', 'ZAR'));
    if (zar) await home.run(['submit', home.put('rand.csv', rand), '--no-wait']);
    const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(1))], 4);
    const { batch } = batches.find(({ file }: { file: string }) => file === 'pay.csv');
    const said = await holdReasons(home, batch);
    expect(said).toContain('it names no currency, and more than one is possible here: NGN, ZAR');
    expect(said).toContain(`counterfoil release ${batch} pays it without this look`);
    expect(said).toContain('service.extras.balance');
    await home.json(['release', batch], 0);
    await home.run(['submit']);
    expect(home.sandbox.requests.bodies('PAY-0001')).toBe(1);
  },
);

it.each(['unreadable', 'refused'] as const)('holds a batch when the balance is %s', async (fault) => {
  const home = await makeHome({}, balance);
  home.sandbox.extras.faults.set('wallet_balance', fault);
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(1))], 4);
  expect(await holdReasons(home, batches[0].batch)).toMatch(
    /the answer of service\.extras\.balance cannot be used .* not known whether the wallet holds enough/,
  );
  expect(home.sandbox.requests.posts).toBe(0);
});

it('holds a batch in a currency that the balance does not name', async () => {
  const home = await makeHome({}, balance);
  home.sandbox.extras.wallet.delete('NGN');
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(1))], 4);
  expect(await holdReasons(home, batches[0].batch)).toContain('it names no NGN');
});

it('lets a batch wait, unheld, while the service gives no balance, and pays it when it does', async () => {
  const home = await makeHome({}, balance);
  home.sandbox.extras.faults.set('wallet_balance', 'error_500');
  const waiting = await home.run(['submit', home.put('pay.csv', batchOf(1))]);
  expect(waiting.code).toBe(4);
  expect(flat(waiting.out)).toContain(
    '1 payout waits until the service has answered what service.extras asks',
  );
  expect(home.sandbox.requests.posts).toBe(0);
  const { waits } = await home.json(['status'], 4);
  expect(waits).toMatchObject([{ kind: 'check', payouts: 1 }]);
  home.sandbox.extras.faults.set('wallet_balance', 'throttled_once');
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(1);
});

it('P32: a batch that waits for an answer goes on once a person releases it, and status says why it waits', async () => {
  const home = await makeHome({}, balance);
  home.sandbox.extras.faults.set('wallet_balance', 'error_500');
  await home.run(['submit', home.put('pay.csv', batchOf(1))]);
  const [batch = ''] = await told(home);
  const said = flat((await home.run(['status'])).out);
  expect(said).toMatch(/the service answered 100|HTTP 500|an error occurred/i);
  expect(said).toContain(`counterfoil release ${batch} pays without the answer`);
  const released = await home.run(['release', batch]);
  expect(released).toMatchObject({ code: 0, out: expect.stringContaining('goes on without') });
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(1);
});

it('P32: a release of what is held for another reason accepts no look that nobody has made', async () => {
  const home = await makeHome({}, balance);
  home.sandbox.extras.wallet.set('NGN', '1.00');
  await home.run(['submit', home.put('pay.csv', batchOf(1)), '--no-wait']);
  const [batch = ''] = await told(home);
  await home.json(['hold', batch], 0);
  await home.json(['release', batch], 0);
  await home.json(['release', batch], 0);
  await home.json(['submit'], 4);
  expect(await holdReasons(home, batch)).toContain('the wallet holds NGN 1.00');
  expect(home.sandbox.requests.posts).toBe(0);
});

it('pays accounts whose names agree, and asks about each account once', async () => {
  const home = await makeHome({}, names);
  knowAll(home, 3);
  const rows = csv(row(1), row(2), row(3), row(4, { account: '1000000001' }));
  await home.json(['submit', home.put('pay.csv', rows)], 0);
  expect(home.sandbox.requests.posts).toBe(4);
  expect(home.sandbox.extras.asked.toSorted()).toEqual(['1000000001', '1000000002', '1000000003']);
});

it('asks nothing about an account that was paid before under the same name, and all about a new one', async () => {
  const home = await makeHome({}, names);
  knowAll(home, 5);
  await home.json(['submit', home.put('november.csv', batchOf(3))], 0);
  await home.sandbox.settleAll();
  await home.run(['reconcile']);
  const asked = home.sandbox.extras.asked.length;
  const december = csv(
    row(1, { reference: 'DEC-1', amount: '777.00' }),
    row(2, { reference: 'DEC-2', amount: '778.00' }).replace('Adaeze Okonkwo', 'Bola Musa'),
    row(4, { reference: 'DEC-4' }),
  );
  await home.json(['submit', home.put('december.csv', december)], 4);
  const later = home.sandbox.extras.asked.slice(asked);
  expect(later).toHaveLength(2);
  const { batches } = await home.json(['batches'], 0);
  expect(batches.map(({ state }: { state: string }) => state).toSorted()).toEqual(['done', 'held']);
});

it('holds a batch with an account of somebody else, shows both names and no whole account', async () => {
  const home = await makeHome({}, both);
  knowAll(home, 3);
  home.sandbox.extras.names.set('1000000002', 'MUSA BELLO');
  home.sandbox.extras.names.delete('1000000003');
  home.sandbox.extras.wallet.set('NGN', '1.00');
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(3))], 4);
  const { batch } = batches[0];
  const said = await holdReasons(home, batch);
  expect(said).toContain('2 accounts with another name at the service');
  expect(said).toContain(
    'row 3 (PAY-0002, account …0002) says "Adaeze Okonkwo", the service says "MUSA BELLO"',
  );
  expect(said).toContain(
    'row 4 (PAY-0003, account …0003) says "Adaeze Okonkwo", the service names nobody (Account not found)',
  );
  expect(said).toContain('the wallet holds NGN 1.00');
  expect(said).not.toContain('1000000002');
  const story = await home.run(['show', 'PAY-0001']);
  expect(story.out).toContain('2 accounts of its batch with another name');
  expect(story.out).not.toContain('MUSA');
  expect(home.sandbox.requests.posts).toBe(0);
  await home.json(['release', batch], 0);
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(3);
});

it('holds a batch when the service stumbles over one account, and asks on after an answer that was lost', async () => {
  const home = await makeHome({}, names);
  knowAll(home, 3);
  home.sandbox.extras.faults.set('1000000001', 'cut_once');
  home.sandbox.extras.faults.set('1000000002', 'page_502');
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(3))], 4);
  const said = await holdReasons(home, batches[0].batch);
  expect(said).toContain('1 account with another name');
  expect(said).toContain(
    'row 3 (PAY-0002, account …0002) says "Adaeze Okonkwo", the service names nobody (no answer)',
  );
});

it('stops asking at an answer that cannot be used: every other one would be like it', async () => {
  const home = await makeHome({}, { ...names, COUNTERFOIL_SERVICE_CONCURRENCY: '1' });
  for (let n = 1; n <= 40; n++) home.sandbox.extras.faults.set(String(1_000_000_000 + n), 'unreadable');
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(40))], 4);
  expect(await holdReasons(home, batches[0].batch)).toContain('no name in a known shape');
  expect(home.sandbox.extras.asked).toHaveLength(1);
});

it('goes on after an interruption without asking again, says how far it is, and keeps to the rate', async () => {
  const home = await makeHome({}, { ...names, COUNTERFOIL_SERVICE_CONCURRENCY: '1' });
  knowAll(home, 60);
  for (let n = 51; n <= 60; n++) home.sandbox.extras.faults.set(String(1_000_000_000 + n), 'cut');
  await home.run(['submit', home.put('pay.csv', batchOf(60))]);
  expect(home.sandbox.requests.posts).toBe(0);
  const first = home.sandbox.extras.asked.splice(0);
  expect(new Set(first).size).toBe(51);
  home.sandbox.extras.faults.clear();
  const began = performance.now();
  const done = await home.run(['submit'], { COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '50' });
  expect(done.code).toBe(0);
  expect(done.err).toMatch(/asking .*: the account names of 60 of 60 payouts/);
  expect(home.sandbox.extras.asked).toHaveLength(10);
  expect(home.sandbox.requests.posts).toBe(60);
  expect(performance.now() - began).toBeGreaterThan(1000);
  expect(await told(home)).toHaveLength(1);
});
