import { expect, it } from 'vitest';
import { batchOf } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

it.each(['pay.csv', 'PAY.CSV', 'pay.txt'])(
  'P22: with a mistyped ledger.url, %s that was paid before is not paid again, and doctor says why',
  async (name) => {
    const home = await makeHome();
    const file = home.put(name, batchOf(2));
    await home.json(['submit', file], 0);
    const mistyped = { COUNTERFOIL_LEDGER_URL: 'sqlite:legder.db' };
    const again = await home.run(['submit', file], mistyped);
    expect(home.sandbox.requests.posts).toBe(2);
    expect(again.err).toContain('holds batches that were taken in, but there is no ledger');
    expect(again.code).toBe(2);
    const doctor = await home.run(['doctor'], mistyped);
    expect(doctor.out).toContain('holds batches that were taken in, but there is no ledger');
  },
);
