import { expect, it, onTestFinished } from 'vitest';
import * as reconcileJob from '../../../../jobs/reconcile.ts';
import * as submitJob from '../../../../jobs/submit.ts';
import { personOf } from '../../../../src/faces/web/dashboard/actions.ts';
import { createSandbox, type Fault } from '../../../../src/sandbox/sandbox.ts';
import { readApprovable } from '../../../../src/sending/approvals.sql.ts';
import { approveVerb } from '../../../../src/verbs/approve.ts';
import { rejectVerb } from '../../../../src/verbs/reject.ts';
import { addBatch, states } from '../../../support/ledger.ts';
import { addUnapproved, type Dashboard, startDashboard, textOf } from './support.ts';

/** A dashboard whose payouts were sent to a service of its own, and looked up since. */
async function afterSending(faults: Record<string, Fault>) {
  const sandbox = await createSandbox({ settleMs: 0, faults });
  onTestFinished(() => sandbox.stop());
  const dashboard = await startDashboard({ service: sandbox });
  await addBatch(dashboard.ledger, Object.keys(faults));
  await submitJob.run(dashboard.app, {});
  const signal = new AbortController().signal;
  await reconcileJob.run(dashboard.app, { full: true, followUp: true, signal });
  return { ...dashboard, sandbox };
}

/** The digest on the page of a decision. */
async function seen({ as }: Dashboard, path: string): Promise<string> {
  const { status, body } = await as('bola', path);
  expect(status).toBe(200);
  return /name="evidence" value="([^"]+)"/.exec(body)?.[1] ?? '';
}

it('P20: pays a failed payout again once, on the evidence that the person saw', async () => {
  const dashboard = await afterSending({ 'R-1': 'fail' });
  const { post, ledger, sandbox } = dashboard;
  expect(await states(ledger)).toEqual({ 'R-1': 'failed' });
  expect((await post('bola', '/payouts/R-1/retry', { evidence: '000000000000', sure: 'yes' })).status).toBe(
    409,
  );
  const evidence = await seen(dashboard, '/payouts/R-1/retry');
  expect((await post('bola', '/payouts/R-1/retry', { evidence })).status).toBe(422);
  expect(Object.keys(await states(ledger))).toEqual(['R-1']);
  const done = await post('bola', '/payouts/R-1/retry', { evidence, sure: 'yes' });
  expect(textOf(done.body)).toMatch(/1 payout is ordered again 1 waiting R-1 as R-1-R2/);
  expect((await post('bola', '/payouts/R-1/retry', { evidence, sure: 'yes' })).status).toBe(409);
  const page = async (): Promise<string> => textOf((await dashboard.as('bola', '/payouts/R-1')).body);
  expect(await page()).toMatch(/Ordered again as R-1-R2 \S* ?waiting/);
  await submitJob.run(dashboard.app, {});
  expect([sandbox.requests.bodies('R-1'), sandbox.requests.bodies('R-1-R2')]).toEqual([1, 1]);
  await ledger.db
    .updateTable('payouts')
    .set({ state: 'success' })
    .where('reference', '=', 'R-1-R2')
    .execute();
  expect(await page()).toContain('Paid again as R-1-R2');
});

it('P20: pays what is unpaid of a batch again once, on the evidence of all that the person saw', async () => {
  const dashboard = await afterSending({ 'R-1': 'fail', 'R-2': 'fail', 'R-3': 'never_settles' });
  const { as, post, ledger, sandbox } = dashboard;
  expect((await as('bola', '/batches/b-1')).body).toContain('Pay what is unpaid again');
  const again = '/batches/b-1/again';
  const page = textOf((await as('bola', again)).body);
  expect(page).toMatch(/NGN 3,000\.00 under new references/);
  expect([page.includes('R-2'), page.includes('R-3')]).toEqual([true, false]);
  expect(page).toContain('Proof May be paid again R-1');
  const evidence = await seen(dashboard, again);
  const order = { evidence, references: 'R-1 R-2', sure: 'yes' };
  expect((await post('bola', again, { ...order, sure: '' })).status).toBe(422);
  // Without all of them, or with one that was not shown, it is not what the person saw.
  for (const references of ['R-1', 'R-1 R-2 R-3', 'R-1 R-1'])
    expect((await post('bola', again, { ...order, references })).status, references).toBe(409);
  expect(Object.keys(await states(ledger))).toHaveLength(3);
  const done = textOf((await post('bola', again, order)).body);
  expect(done).toContain('2 payouts are ordered again');
  expect(done).toContain('R-1 as R-1-R2, R-2 as R-2-R2');
  expect((await post('bola', again, order)).status).toBe(409);
  await submitJob.run(dashboard.app, {});
  const sent = ['R-1', 'R-2', 'R-1-R2', 'R-2-R2'].map((one) => sandbox.requests.bodies(one));
  expect(sent).toEqual([1, 1, 1, 1]);
  expect(textOf((await as('bola', again)).body)).toContain('None of it can be paid again now');
});

it('P20: shows the account that is used again, and a later payment of the payee to another one', async () => {
  const dashboard = await afterSending({ 'R-1': 'fail', 'R-2': 'fail' });
  const { as, ledger } = dashboard;
  const again = async (): Promise<string> =>
    (await as('bola', '/batches/b-1/again')).body.replaceAll(/<[^>]+>/g, '');
  expect(await again()).toContain('0123456789 · 000013');
  const later = { id: 'b-2', state: 'success', attempt_count: 1n, account_number: '0123456700' } as const;
  await addBatch(ledger, ['S-1'], { ...later, account_name: 'ADA BELLO' });
  expect(await again(), 'somebody else').not.toContain('another account');
  await addBatch(ledger, ['S-2'], { ...later, id: 'b-3' });
  expect(await again()).toContain('A later payment went to another account: S-2');
  await addBatch(ledger, ['S-3'], { ...later, id: 'b-4', account_number: '0123456789' });
  expect(await again(), 'the newest went to this one').not.toContain('another account');
  const key = { account_name: 'A. OBI', payee_id: 'E-7' };
  await ledger.db.updateTable('payouts').set({ payee_key: 'e7' }).where('reference', '=', 'R-2').execute();
  await addBatch(ledger, ['S-4'], { ...later, ...key, id: 'b-5' });
  await ledger.db.updateTable('payouts').set({ payee_key: 'e7' }).where('reference', '=', 'S-4').execute();
  expect(await again(), 'by the key').toMatch(/R-2.*another account: S-4/s);
  expect((await again()).split('another account')).toHaveLength(2);
});

it('P16: offers no second payment of what the service has', async () => {
  const dashboard = await afterSending({ 'R-1': 'lost_answer' });
  const { as, post, ledger } = dashboard;
  const page = await as('bola', '/payouts/R-1/retry');
  expect(textOf(page.body)).toMatch(/cannot be paid again now/);
  expect(page.body).not.toContain('name="evidence"');
  expect((await post('bola', '/payouts/R-1/retry', { sure: 'yes' })).status).toBe(409);
  expect(Object.keys(await states(ledger))).toEqual(['R-1']);
});

it('P32: settles an unknown payout by a person with a note', async () => {
  const dashboard = await afterSending({ 'R-1': 'lost_before' });
  const { as, post, ledger } = dashboard;
  expect(await states(ledger)).toEqual({ 'R-1': 'unknown' });
  const evidence = await seen(dashboard, '/payouts/R-1/settle');
  const known = textOf((await as('bola', '/payouts/R-1/settle')).body);
  expect(known).toMatch(/payee ADA OBI account 0123456789 · 000013 amount NGN 1,500\.00/);
  const form = (await as('bola', '/payouts/R-1/settle')).body.split('How you know')[1] ?? '';
  expect([form.includes('It was paid'), form.includes('class="go"')], 'leads to neither answer').toEqual([
    true,
    false,
  ]);
  expect((await post('bola', '/payouts/R-1/settle', { evidence, as: 'failed', note: ' ' })).status).toBe(422);
  expect((await post('bola', '/payouts/R-1/settle', { evidence, as: 'lost', note: 'x' })).status).toBe(422);
  const done = await post('bola', '/payouts/R-1/settle', { evidence, as: 'failed', note: 'bank letter' });
  expect(textOf(done.body)).toMatch(/R-1 is settled as not paid/);
  expect(await states(ledger)).toEqual({ 'R-1': 'failed' });
});

it('P32: offers a new file, and not to pay again, where only a person has said that it was not paid', async () => {
  const dashboard = await afterSending({ 'R-1': 'lost_before' });
  const { as, post, ledger } = dashboard;
  const newFile = 'Pay it in a new file, under a new reference';
  expect(textOf((await as('bola', '/payouts/R-1/settle')).body), 'said before').toContain(newFile);
  const evidence = await seen(dashboard, '/payouts/R-1/settle');
  await post('bola', '/payouts/R-1/settle', { evidence, as: 'failed', note: 'bank letter' });
  for (const page of ['/', '/batches/b-1', '/payouts/R-1']) {
    const { body } = await as('bola', page);
    expect(textOf(body), page).toContain(newFile);
    expect(body, page).not.toMatch(/href="[^"]*\/(again|retry)"/);
  }
  expect(textOf((await as('bola', '/payouts/R-1/retry')).body)).toContain('cannot be paid again now');
  // One that failed at the service beside it can be paid again.
  await addBatch(ledger, ['R-2'], { id: 'b-2', state: 'failed', evidence: 'details' });
  await ledger.db
    .updateTable('payouts')
    .set({ batch_id: 'b-1', row_number: 2n })
    .where('reference', '=', 'R-2')
    .execute();
  expect((await as('bola', '/batches/b-1')).body).toContain('href="/batches/b-1/again"');
  expect((await as('bola', '/payouts/R-2')).body).toContain('href="/payouts/R-2/retry"');
});

it('P21: cancels what was never sent, and nothing else', async () => {
  const dashboard = await afterSending({ 'R-1': 'never_settles' });
  const { post, ledger } = dashboard;
  expect(textOf((await post('bola', '/payouts/R-1/cancel', { sure: 'yes' })).body)).toMatch(
    /only what was never sent/,
  );
  await addBatch(ledger, ['R-2', 'R-3'], { id: 'later' });
  expect((await post('bola', '/payouts/R-2/cancel')).status).toBe(422);
  expect(textOf((await post('bola', '/payouts/R-2/cancel', { sure: 'yes' })).body)).toMatch(
    /R-2 is cancelled/,
  );
  expect((await post('bola', '/batches/later/cancel')).status).toBe(422);
  const all = await post('bola', '/batches/later/cancel', { sure: 'yes' });
  expect(textOf(all.body)).toMatch(/later: 1 payout cancelled/);
  expect(await states(ledger)).toEqual({ 'R-1': 'pending', 'R-2': 'cancelled', 'R-3': 'cancelled' });
});

it('P2: rejects only the batch that the person saw, with a reason that its payouts keep', async () => {
  const { ledger, as, post } = await startDashboard();
  await addUnapproved(ledger, ['A-1']);
  const page = (await as('bola', '/batches/b-1/approve')).body;
  const digest = /name="digest" value="([^"]+)"/.exec(page.slice(page.indexOf('id="reject"')))?.[1] ?? '';
  expect((await post('bola', '/batches/b-1/reject', { digest, note: '' })).status).toBe(422);
  for (const wrong of ['', '0'.repeat(64)])
    expect((await post('bola', '/batches/b-1/reject', { digest: wrong, note: 'no' })).status).toBe(409);
  expect(await states(ledger)).toEqual({ 'A-1': 'held' });
  const done = await post('bola', '/batches/b-1/reject', { digest, note: 'the wrong month' });
  expect(textOf(done.body)).toMatch(/b-1 is rejected/);
  expect((await as('ada', '/payouts/A-1')).body).toContain('rejected by bola: the wrong month');
  expect((await post('bola', '/batches/b-1/reject', { digest, note: 'again' })).status).toBe(409);
});

it('P2: cancels nothing by a rejection that an approval overtook', async () => {
  const { ledger, app } = await startDashboard();
  await addUnapproved(ledger, ['A-1']);
  const batch = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
  const shown = await readApprovable(ledger.db, batch);
  // The approval commits after the rejection has read the batch, and before it writes.
  const write: typeof ledger.write = async (work) => {
    await approveVerb.run(app, { batch: 'b-1', digest: shown.digest }, personOf('bola'));
    return ledger.write(work);
  };
  const late = { ...app, ledger: { ...app.ledger, write } };
  const done = await rejectVerb.run(late, { batch: 'b-1', reason: 'no' }, personOf('cy'));
  expect(done).toMatchObject({ kind: 'refused', why: { kind: 'changed' } });
  expect(await states(ledger)).toEqual({ 'A-1': 'ready' });
});

it('lets nobody decide without the role', async () => {
  const { ledger, as, post } = await startDashboard({ names: ['cy'], roles: { cy: ['read', 'drop'] } });
  await addBatch(ledger, ['A-1']);
  for (const path of ['/payouts/A-1/retry', '/payouts/A-1/settle', '/batches/b-1/again'])
    expect((await as('cy', path)).status).toBe(403);
  const orders = ['payouts/A-1/retry', 'payouts/A-1/settle', 'payouts/A-1/cancel', 'payouts/A-1/resend'];
  for (const path of [...orders, 'batches/b-1/cancel', 'batches/b-1/again', 'batches/b-1/reject', 'runs'])
    expect((await post('cy', `/${path}`, { sure: 'yes', note: 'x' })).status, path).toBe(403);
  expect((await as('cy', '/payouts/A-1')).body).not.toContain('Cancel…');
});
