import { expect, it } from 'vitest';
import { batchOf, flat, type Home } from '../support/cli.ts';
import { agree, failed, makeHome } from '../support/decided.ts';
import { type PaperRow, readResults } from '../support/paper.ts';

/** Five payouts, of which the first failed at the service; every later payment of it has this fault. */
async function withFailure(faults: Record<string, 'fail' | 'refuse_24'> = {}) {
  const home = await makeHome(
    { faults: { 'PAY-0001': 'fail', ...faults }, settleMs: 1 },
    { COUNTERFOIL_RECEIVER_ENABLED: 'false' },
  );
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(5))], 0);
  await settled(home);
  return { home, batch: batches[0].batch as string };
}

async function settled(home: Home): Promise<void> {
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
}

/** What `batches` counts. */
async function countsOf(home: Home, batch: string): Promise<Record<string, number>> {
  const { batches } = await home.json(['batches'], 0);
  return batches.find((one: { batch: string }) => one.batch === batch).payouts;
}

/** The counts of every face, and the row of a payout in results.csv. */
async function facesOf(home: Home, batch: string) {
  const status = (await home.json(['status'], 0)).payouts;
  const ofBatch = await countsOf(home, batch);
  const { states } = (await home.json(['payouts', '--batch', batch], 0)).totals.NGN;
  const listed = Object.fromEntries(
    Object.entries<{ count: number }>(states).map(([state, { count }]) => [state, count]),
  );
  const metrics = (await home.run(['status', '--metrics'])).out;
  const failed = /^counterfoil_payouts\{currency="NGN",state="failed"\} (\d+)/m.exec(metrics)?.[1];
  return { status, ofBatch, listed, failed: Number(failed) };
}
const rowOf = (home: Home, batch: string, reference: string): PaperRow | undefined =>
  readResults(`${home.dir}/data/reports`, batch).find((row) => row.reference === reference);
const index = (home: Home): string => home.read('data/reports/index.html');

it('a payout that was paid again counts as paid again and not as failed, on every face', async () => {
  const { home, batch } = await withFailure();
  expect(await facesOf(home, batch)).toMatchObject({ status: { success: 4, failed: 1 }, failed: 1 });
  await agree(home, 0, 'PAY-0001');
  const waiting = { success: 4, pending: 1, waits_again: 1 };
  expect(await facesOf(home, batch)).toEqual({
    status: waiting,
    ofBatch: waiting,
    listed: waiting,
    failed: 0,
  });
  await settled(home);
  const paid = { success: 5, paid_again: 1 };
  expect(await facesOf(home, batch)).toEqual({ status: paid, ofBatch: paid, listed: paid, failed: 0 });
  expect(rowOf(home, batch, 'PAY-0001')).toMatchObject({
    payout_state: 'failed',
    paid_again_as: 'PAY-0001-R2',
  });
  expect(rowOf(home, batch, 'PAY-0001-R2')).toMatchObject({
    payout_state: 'success',
    paid_again_as: '',
    message: '',
  });
  expect(index(home)).toContain('1 paid again');
  expect(index(home)).not.toContain('1 failed');
  const { run } = await home.json(['reconcile'], 0);
  const report = home.read(`data/reports/reconciliation-${run}/report.html`);
  expect(report).toMatch(/<span>Failed or refused<\/span> <strong>0</);
  expect(report).toMatch(/<span>Ordered<\/span> <strong>5</);
});

it('a payout paid again from failed.csv is paid again on the page of its own batch too: 100 %, not 80 %', async () => {
  const { home, batch } = await withFailure();
  await home.json(['submit', home.put('failed.csv', home.read(`data/reports/${batch}/failed.csv`))], 0);
  await settled(home);
  await home.json(['report'], 0);
  expect(rowOf(home, batch, 'PAY-0001')).toMatchObject({ paid_again_as: 'PAY-0001-R2' });
  expect(index(home)).not.toMatch(/<small>\d\d(\.\d)? ?%/);
  expect(await facesOf(home, batch)).toMatchObject({ ofBatch: { success: 4, paid_again: 1 }, failed: 0 });
});

it('money that fails twice is unpaid once, and a chain names the successor that counts', async () => {
  const { home, batch } = await withFailure({ 'PAY-0001-R2': 'fail' });
  await agree(home, 0, 'PAY-0001');
  await settled(home);
  expect((await facesOf(home, batch)).ofBatch).toEqual({ success: 4, failed: 1, failed_again: 1 });
  await agree(home, 0, 'PAY-0001-R2');
  await settled(home);
  expect((await facesOf(home, batch)).ofBatch).toEqual({ success: 5, paid_again: 2 });
  for (const reference of ['PAY-0001', 'PAY-0001-R2'])
    expect(rowOf(home, batch, reference)).toMatchObject({ paid_again_as: 'PAY-0001-R3' });
});

it('a successor that was cancelled makes the first payout unpaid again', async () => {
  const { home, batch } = await withFailure();
  await home.json(['hold', batch], 0);
  await agree(home, 4, 'PAY-0001');
  expect(await countsOf(home, batch)).toMatchObject({ waits_again: 1 });
  await home.json(['cancel', 'PAY-0001-R2', '--yes'], 0);
  expect(await countsOf(home, batch)).toEqual({ success: 4, failed: 1, cancelled: 1 });
  await home.json(['report', batch], 0);
  expect(rowOf(home, batch, 'PAY-0001')).toMatchObject({ paid_again_as: '' });
  // P20: it can be paid again in every way, under the next reference, and verify knows the chain.
  expect(home.read(`data/reports/${batch}/failed.csv`)).toMatch(/^PAY-0001-R3,.*,PAY-0001,/m);
  expect(flat((await home.run(['show', 'PAY-0001'])).out)).toContain('counterfoil retry PAY-0001');
  const shown = await home.json(['retry', '--batch', batch, '--state', 'failed'], 2);
  expect(shown.evidence).toMatchObject([{ reference: 'PAY-0001', can: 'successor', successor: null }]);
  const cancelled = await home.json(['retry', 'PAY-0001-R2'], 2);
  expect(cancelled.evidence[0].why).toContain('counterfoil retry PAY-0001 asks');
  await home.json(['release', batch], 0);
  await agree(home, 0, 'PAY-0001');
  await settled(home);
  expect(await countsOf(home, batch)).toEqual({ success: 5, paid_again: 1, cancelled: 1 });
  await home.json(['report', batch], 0);
  expect(rowOf(home, batch, 'PAY-0001')).toMatchObject({ paid_again_as: 'PAY-0001-R3' });
  expect(home.names(`data/reports/${batch}`)).not.toContain('failed.csv');
  await home.json(['verify'], 0);
});

it('a failed.csv that was cancelled whole comes again under the next references', async () => {
  const { home, batch } = await withFailure();
  const path = `data/reports/${batch}/failed.csv`;
  const first = home.read(path);
  await home.json(['hold', batch], 0);
  const { batches } = await home.json(['submit', home.put('failed.csv', first)], 4);
  await home.json(['cancel', batches[0].batch, '--yes'], 0);
  await home.json(['report', batch], 0);
  const again = home.read(path);
  expect(again).toMatch(/^PAY-0001-R3,.*,PAY-0001,/m);
  const stale = await home.run([
    'submit',
    home.put('stale.csv', first.replace(',Salary,', ',Salary again,')),
  ]);
  expect(flat(`${stale.out}${stale.err}`)).toContain('write PAY-0001-R3');
  await home.json(['release', batch], 0);
  await home.json(['submit', home.put('again.csv', again)], 0);
  await settled(home);
  expect(await countsOf(home, batch)).toMatchObject({ success: 4, paid_again: 1 });
  await home.json(['verify'], 0);
});

it('P20: show offers to pay nothing again while the service says that it was paid', async () => {
  const { home } = await failed({ COUNTERFOIL_RECEIVER_ENABLED: 'false' });
  const now = async () => flat((await home.run(['show', 'PAY-0001'])).out);
  expect(await now()).toContain('pay it again: counterfoil retry PAY-0001');
  const { book } = home.sandbox;
  for (const { id } of book.transfers('test')) book.change(id, { status: 'success' });
  expect((await home.json(['reconcile'], 4)).discrepancies.open).toEqual({ status_conflict: 1 });
  const doubted = await now();
  expect(doubted).toContain('Pay nothing again before that');
  expect(doubted).not.toContain('counterfoil retry PAY-0001');
});
