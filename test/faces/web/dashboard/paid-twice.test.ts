import { expect, it, onTestFinished } from 'vitest';
import * as reconcileJob from '../../../../jobs/reconcile.ts';
import * as submitJob from '../../../../jobs/submit.ts';
import { plainKind } from '../../../../src/core/domain/plain-kind.ts';
import { createSandbox } from '../../../../src/sandbox/sandbox.ts';
import { addListed, addRun as addRunOfList } from '../../../books/support.ts';
import { addBatch } from '../../../support/ledger.ts';
import { addDiscrepancy, addRun, startDashboard, textOf } from './support.ts';

/** What the first page answers to whether somebody was paid twice. */
async function answer({ as, post }: Awaited<ReturnType<typeof startDashboard>>): Promise<string> {
  // A decision that is refused makes the next look a new one.
  await post('ada', '/payouts/none/resend');
  const { body } = await as('ada', '/');
  const tile = /Paid twice\?<\/dt><dd>(.*?)<\/dd>/s.exec(body)?.[1] ?? '';
  return tile
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

it('P35: says that nobody was paid twice only of what a complete list showed, and when that was', async () => {
  const sandbox = await createSandbox({ settleMs: 0 });
  onTestFinished(() => sandbox.stop());
  const dashboard = await startDashboard({ service: sandbox });
  const { ledger, app } = dashboard;
  expect(await answer(dashboard)).toMatch(/^not checked since 21 Nov 11:00 : no complete list was read$/);
  await addBatch(ledger, ['R-1', 'R-2']);
  await submitJob.run(app, {});
  expect(await answer(dashboard)).toContain('not checked');
  const signal = new AbortController().signal;
  await reconcileJob.run(app, { full: true, followUp: true, signal });
  expect(await answer(dashboard)).toMatch(/^none in 2 payouts, checked against the list of [^:]+:\d\d$/);
  await addBatch(ledger, ['R-3'], { id: 'later' });
  await submitJob.run(app, {});
  expect(await answer(dashboard)).toMatch(/^none in 2 payouts, .* not checked since then$/);
});

it('shows the second transfer of a payout on its page, and no list where there is one', async () => {
  const { ledger, as } = await startDashboard();
  const [payoutId = null] = await addBatch(ledger, ['A-1']);
  await ledger.db.updateTable('payouts').set({ transfer_id: '4801', state: 'success' }).execute();
  await addRunOfList(ledger);
  const page = async (): Promise<string> => textOf((await as('ada', '/payouts/A-1')).body);
  await addListed(ledger, 'A-1', { transfer_id: '4801', payout_id: payoutId });
  expect(await page()).not.toContain('Transfers that the service lists');
  const second = { transfer_id: '4802', trx: 'TRX-2', status: 'pending', amount_text: '1500.00' };
  await addListed(ledger, 'A-1', { ...second, payout_id: payoutId });
  expect(await page()).toMatch(
    /Transfer id Reference \(trx\) Payout State Amount Made 4801 – A-1 success NGN 100\.00 21 Nov 2026 13:02 4802 TRX-2 A-1 pending NGN 1,500\.00 21 Nov 2026 13:02/,
  );
});

it('shows the transfers of a payout and of the one that pays it again on the pages of both', async () => {
  const { ledger, as } = await startDashboard();
  const [first = null] = await addBatch(ledger, ['A-1']);
  const [again = null] = await addBatch(ledger, ['A-1-R2'], { id: 'b-2' });
  await ledger.db
    .updateTable('payouts')
    .set({ successor_of: first })
    .where('reference', '=', 'A-1-R2')
    .execute();
  await addRunOfList(ledger);
  await addListed(ledger, 'A-1', { transfer_id: '4801', payout_id: first });
  await addListed(ledger, 'A-1-R2', { transfer_id: '4802', payout_id: again });
  for (const reference of ['A-1', 'A-1-R2']) {
    const text = textOf((await as('ada', `/payouts/${reference}`)).body);
    expect(text).toMatch(/4801 – A-1 success NGN 100\.00/);
    expect(text).toMatch(/4802 – A-1-R2 success NGN 100\.00/);
  }
});

it('P35: says it of no run whose list was not complete', async () => {
  const dashboard = await startDashboard();
  await addRun(dashboard.ledger, 'not_compared');
  expect(await answer(dashboard)).toContain('not checked');
});

it.each(['paid_twice', 'duplicate_at_service'] as const)(
  'never says "none" where a %s was found',
  async (kind) => {
    const dashboard = await startDashboard();
    const { ledger, post } = dashboard;
    const [payoutId = null] = await addBatch(ledger, ['A-1']);
    const id = await addDiscrepancy(ledger, { kind, payoutId, reference: 'A-1' });
    expect(await answer(dashboard)).toBe(`■ 1 open 1 ${plainKind(kind)}`);
    expect((await dashboard.as('ada', '/')).body).toContain(`href="/discrepancies?kind=${kind}">1 `);
    expect((await post('ada', '/discrepancies/resolve', { id, note: 'the bank gave it back' })).status).toBe(
      200,
    );
    expect(await answer(dashboard)).toBe('none open 1 resolved by a person');
  },
);
