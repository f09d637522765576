import { expect, it } from 'vitest';
import { batchOf, until } from '../support/cli.ts';
import { makeHome, stateOf } from '../support/decided.ts';
import { serving } from '../support/serving.ts';

it('P32: what a person settled as not paid, and a webhook and its look-up show as paid, is told by the next reconcile', async () => {
  const home = await makeHome({ faults: { 'PAY-0001': 'lost_answer' }, settleMs: 600_000 });
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 4);
  await home.json(['settle', 'PAY-0001', '--as', 'not-paid', '--note', 'paid in cash', '--yes'], 0);
  await serving(home, {}, home.start);
  await home.sandbox.settleAll();
  await until(
    5000,
    () => stateOf(home, 'PAY-0001'),
    (state) => state === 'success',
  );
  const run = await home.json(['reconcile'], 4);
  expect(run.discrepancies.open).toMatchObject({ status_conflict: 1 });
  expect(run.statement.NGN.verdict).toBe('exceptions');
  const { discrepancies } = await home.json(['discrepancies', '--kind', 'status_conflict'], 4);
  expect(discrepancies).toEqual([
    expect.objectContaining({
      reference: 'PAY-0001',
      expected: 'failed',
      actual: 'success',
      difference: '1001.50',
      severity: 'high',
      evidence: expect.stringMatching(
        /^person:\S+ settled it as failed at \S+Z \(paid in cash\); then at \S+Z: details says success$/,
      ),
    }),
  ]);
  expect((await home.json(['reconcile'], 0)).discrepancies.open, 'told once').toEqual({});
});
