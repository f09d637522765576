import { expect, it } from 'vitest';
import { batchOf, makeHome } from '../support/cli.ts';

it('names a canary that failed before any sender has judged it', async () => {
  const home = await makeHome(
    { faults: { 'PAY-0001': 'fail' } },
    { COUNTERFOIL_SUBMISSION_CANARY: '1', COUNTERFOIL_RECEIVER_ENABLED: 'false' },
  );
  home.put('pay.csv', batchOf(3));
  await home.run(['submit', 'pay.csv']);
  await home.sandbox.settleAll();
  await home.run(['reconcile']);
  const { code, out } = await home.run(['status', '--json']);
  expect(JSON.parse(out).findings).toContainEqual(
    expect.objectContaining({ kind: 'canary_failed', severity: 'high' }),
  );
  expect(code, 'a person is needed').toBe(4);
});
