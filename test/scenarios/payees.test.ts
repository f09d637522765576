import { expect, it } from 'vitest';
import { serveApi } from '../faces/api/support.ts';
import { csv, flat, until } from '../support/cli.ts';
import { droppedByAlice, makeHome } from '../support/decided.ts';

const rule = {
  COUNTERFOIL_SUBMISSION_PAYEES: 'approve_changed',
  COUNTERFOIL_SUBMISSION_DUPLICATE_WINDOW_DAYS: '0',
};
const names = ['Adaeze Okonkwo', 'Musa Bello', 'Tunde Bakare', 'Ngozi Obi'];

/** Each of four people once; `accounts`: those that are not the usual ones, by row. */
function month(prefix: string, amount: string, accounts: Record<number, string> = {}): string {
  return csv(
    ...names.map((name, i) => {
      const account = accounts[i + 2] ?? String(1_000_000_000 + i);
      return `${prefix}-${i + 1},${account},${name},058,${amount},NGN,Salary,Acme Ltd`;
    }),
  );
}

it('P37: amounts in kobo for naira are named by check, dry run and approval, and hold the batch', async () => {
  const home = await makeHome({}, rule);
  await home.json(['submit', home.put('november.csv', month('NOV', '1500.00'))], 0);
  const file = home.put('december.csv', month('DEC', '150000.00'));
  const said =
    /4 amounts a hundred times those of before: rows 2, 3, 4, 5; kobo or cents.*all NGN amounts end in two zeros/;
  for (const args of [
    ['check', file],
    ['submit', file, '--dry-run'],
  ]) {
    const done = await home.run(args);
    expect(flat(done.out + done.err), args.join(' ')).toMatch(said);
  }
  const { batches } = await home.json(['submit', file], 4);
  expect(batches[0].hold_reasons.join()).toContain('4 amounts a hundred times those of before');
  await droppedByAlice(home);
  const approved = await home.run(['approve', batches[0].batch]);
  expect(flat(approved.out + approved.err)).toMatch(said);
});

it('P37: with on_changed rows the others go at once, and every face says what waits', async () => {
  const home = await makeHome({}, { ...rule, COUNTERFOIL_SUBMISSION_ON_CHANGED: 'rows' });
  await home.json(['submit', home.put('november.csv', month('NOV', '1500.00'))], 0);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  const file = home.put('december.csv', month('DEC', '1600.00', { 3: '9000000001' }));
  const waits =
    /1 payee with another account than before, first in row 3: only these wait for an approval by somebody/;
  const checked = await home.run(['check', file]);
  expect(flat(checked.out)).toMatch(waits);
  expect(flat(checked.out)).toContain('Ready to submit. Only its changed rows would wait.');
  const taken = await home.run(['submit', file]);
  expect(taken.code).toBe(4);
  expect(flat(taken.out)).toMatch(waits);
  expect(home.sandbox.requests.posts).toBe(7);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);

  const { batches } = await home.json(['batches'], 0);
  const [{ batch }] = batches;
  expect(batches[0]).toMatchObject({ state: 'held', payouts: { success: 3, held: 1 } });
  expect(batches[0].hold_reasons.join()).toMatch(waits);
  const status = await home.json(['status'], 4);
  expect(status.findings).toMatchObject([{ kind: 'batch_held', count: 1 }]);
  expect(flat((await home.run(['status'])).out)).toMatch(waits);
  const own = await home.run(['approve', batch]);
  expect(own.code, 'who dropped it never approves').toBe(2);

  await droppedByAlice(home);
  const approved = await home.run(['approve', batch]);
  expect(flat(approved.out)).toContain('only 1 payout, NGN 1,600.00, waits for it');
  expect(flat(approved.out)).toContain('1 payout may go now');
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(8);
  const verified = await home.json(['verify'], 0);
  expect(verified.ok).toBe(true);
});

it('P37: over the API the others go at once, the digest covers the change, and a rejection cancels only that row', async () => {
  const settings = { ...rule, COUNTERFOIL_SUBMISSION_ON_CHANGED: 'rows' };
  const { home, as } = await serveApi({}, settings);
  const posts = (count: number) =>
    until(
      15_000,
      () => home.sandbox.requests.posts,
      (n) => n === count,
    );
  await as('dayo').postBatch(month('NOV', '1500.00'), { name: 'november.csv' });
  await posts(4);
  const taken = await as('dayo').postBatch(month('DEC', '1600.00', { 3: '9000000001' }), {
    name: 'december.csv',
  });
  expect(taken).toMatchObject({ state: 'held', payouts: { held: 1 } });
  await posts(7);
  const shown = await as('rita').getBatch({ batch: taken.batch });
  expect(shown).toMatchObject({ state: 'held', payouts: { held: 1 }, digest: taken.digest });
  expect(shown.hold_reasons.join()).toContain('first in row 3: only these wait for an approval');
  const order = { batch: taken.batch, reason: 'call them first', digest: taken.digest ?? '' };
  const done = await as('ada').rejectBatch(order);
  expect(done).toMatchObject({ cancelled: 1 });
  expect((await as('rita').getBatch({ batch: taken.batch })).payouts).not.toHaveProperty('held');
  expect(home.sandbox.requests.posts).toBe(7);
});
