import { expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { csv, type Home, row } from '../support/cli.ts';
import { failed, look, sent, stateOf } from '../support/decided.ts';

const aDay = { COUNTERFOIL_SUBMISSION_DAILY_LIMIT: '{"NGN": "1002.00"}' };

/** The service shows the first transfer of PAY-0001 after all. */
function showFirst(home: Home, status: 'pending' | 'success' = 'success'): void {
  home.sandbox.book.plant({
    reference: 'PAY-0001',
    account_number: '1000000001',
    account_name: 'Adaeze Okonkwo',
    bank_code: '058',
    amount: '1001.50',
    status,
  });
}

/** A `PAY-0001` whose answer was lost, of which the service shows nothing yet, and a retry that waits in a held batch. */
async function retryHeld(): Promise<{ home: Home; batch: string }> {
  const made = await sent('lost_before', {}, 4);
  await made.home.json(['hold', made.batch], 0);
  const { evidence_digest } = await look(made.home, 'PAY-0001');
  await made.home.run(['retry', 'PAY-0001', '--yes', '--evidence', evidence_digest]);
  expect(await stateOf(made.home, 'PAY-0001')).toBe('held');
  return made;
}

it('P31: a successor that waited for the daily limit is not sent once the service turned the first to success', async () => {
  const { home } = await failed();
  // What the first took of the day leaves nothing for its successor.
  const done = await home.json(['retry', 'PAY-0001'], 2, aDay);
  await home.run(['retry', 'PAY-0001', '--yes', '--evidence', done.evidence_digest], aDay);
  expect(await stateOf(home, 'PAY-0001-R2')).toBe('ready');
  expect(home.sandbox.requests.bodies('PAY-0001-R2')).toBe(0);
  home.sandbox.book.change(home.sandbox.book.find('PAY-0001')[0]?.id ?? 0, { status: 'success' });
  // Another day: the limit allows it.
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.bodies('PAY-0001-R2')).toBe(0);
  const { payout } = await home.json(['show', 'PAY-0001-R2'], 0);
  expect(payout).toMatchObject({
    state: 'held',
    message: expect.stringContaining('the service shows PAY-0001 as success'),
  });
});

it('P31: an unknown’s retry that waited in a held batch is not sent once the service shows the first transfer', async () => {
  const { home, batch } = await retryHeld();
  showFirst(home);
  await home.run(['release', batch]);
  await home.run(['submit']);
  expect(home.sandbox.requests.bodies('PAY-0001')).toBe(1);
  expect(await stateOf(home, 'PAY-0001')).toBe('success');
});

it('P31: a retry that waited goes out when the service still knows nothing of the first transfer', async () => {
  const { home, batch } = await retryHeld();
  await home.json(['release', batch], 0);
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.bodies('PAY-0001')).toBe(2);
  expect(await stateOf(home, 'PAY-0001')).toBe('pending');
});

it('P31: an unknown of one account is not sent again from another, and the person reads where the first went', async () => {
  const { home } = await sent('lost_before', {}, 4);
  const other = await createSandbox({ settleMs: 1 });
  try {
    const keys = other.keys.test;
    const elsewhere = {
      COUNTERFOIL_SERVICE_BASE_URL: other.url,
      COUNTERFOIL_TEST_SECRET_KEY: keys.secretKey,
      COUNTERFOIL_TEST_ENCRYPTION_KEY: keys.encryptionKey,
    };
    await home.run(['reconcile', '--full'], elsewhere);
    const shown = await home.json(['retry', 'PAY-0001'], 2, elsewhere);
    expect(shown.evidence[0]).toMatchObject({ can: 'no', why: expect.stringContaining(home.sandbox.url) });
    expect(shown.evidence[0].why).toContain(other.url);
    await home.run(['retry', 'PAY-0001', '--yes', '--evidence', shown.evidence_digest], elsewhere);
    expect(other.requests.posts).toBe(0);
    expect(await stateOf(home, 'PAY-0001')).toBe('unknown');
  } finally {
    await other.stop();
  }
});

it('P31: another key at the same address is another account', async () => {
  const { home } = await sent('lost_before', {}, 4);
  const elsewhere = { COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_anothers0000000000000000' };
  const shown = await home.json(['retry', 'PAY-0001'], 2, elsewhere);
  expect(shown.evidence[0]).toMatchObject({ can: 'no', why: expect.stringMatching(/key/) });
});

it('P31: while a key is rotated, what was sent with the old one may be sent again with the new one', async () => {
  const { home } = await sent('lost_before', {}, 4);
  const old = home.env.COUNTERFOIL_TEST_SECRET_KEY ?? '';
  // The sandbox knows one key: the order of the two says which of them signs.
  const rotating = { COUNTERFOIL_TEST_SECRET_KEY: `${old},sk_test_next00000000000000000000` };
  const shown = await home.json(['retry', 'PAY-0001'], 2, rotating);
  expect(shown.evidence[0]).toMatchObject({ can: 'again' });
});

it('P31: an order that was given at one account does not go out at another', async () => {
  const { home, batch } = await retryHeld();
  const other = await createSandbox({ settleMs: 1 });
  try {
    const keys = other.keys.test;
    const elsewhere = {
      COUNTERFOIL_SERVICE_BASE_URL: other.url,
      COUNTERFOIL_TEST_SECRET_KEY: keys.secretKey,
      COUNTERFOIL_TEST_ENCRYPTION_KEY: keys.encryptionKey,
    };
    await home.run(['release', batch], elsewhere);
    await home.run(['submit'], elsewhere);
    expect(other.requests.posts).toBe(0);
    const { payout } = await home.json(['show', 'PAY-0001'], 0);
    expect(payout).toMatchObject({ state: 'unknown', message: expect.stringContaining(other.url) });
  } finally {
    await other.stop();
  }
});

it('P31: another order under one of our references shows no account to be the one that ours went to', async () => {
  const { home } = await sent('lost_before', {}, 4);
  const other = await createSandbox({ settleMs: 1 });
  try {
    const keys = other.keys.test;
    const elsewhere = {
      COUNTERFOIL_SERVICE_BASE_URL: other.url,
      COUNTERFOIL_TEST_SECRET_KEY: keys.secretKey,
      COUNTERFOIL_TEST_ENCRYPTION_KEY: keys.encryptionKey,
    };
    await home.run(['submit', home.put('more.csv', csv(row(2)))]);
    const accepted = home.sandbox.book.find('PAY-0002')[0];
    if (!accepted) throw new Error('PAY-0002 was not taken');
    const { reference, account_number, account_name, bank_code, amount } = accepted;
    // Somebody paid the same salary there, from another program.
    while (other.book.plant().id <= accepted.id);
    other.book.plant({ reference, account_number, account_name, bank_code, amount, status: 'success' });
    await home.run(['reconcile', '--full'], elsewhere);
    await home.run(['retry', 'PAY-0002'], elsewhere);
    const shown = await home.json(['retry', 'PAY-0001'], 2, elsewhere);
    expect(shown.evidence[0]).toMatchObject({ can: 'no', why: expect.stringContaining(home.sandbox.url) });
    await home.run(['retry', 'PAY-0001', '--yes', '--evidence', shown.evidence_digest], elsewhere);
    await home.run(['submit'], elsewhere);
    expect(other.requests.posts).toBe(0);
  } finally {
    await other.stop();
  }
});

it('P31: a list that shows what was accepted at another address shows both to be one account', async () => {
  const { home } = await sent('lost_before', {}, 4);
  await home.run(['submit', home.put('more.csv', csv(row(2)))]);
  const moved = { COUNTERFOIL_SERVICE_BASE_URL: home.sandbox.url.replace('127.0.0.1', 'localhost') };
  expect((await home.json(['retry', 'PAY-0001'], 2, moved)).evidence[0]).toMatchObject({ can: 'no' });
  await home.run(['reconcile', '--full'], moved);
  expect((await home.json(['retry', 'PAY-0001'], 2, moved)).evidence[0]).toMatchObject({ can: 'again' });
});
