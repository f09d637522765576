import { join } from 'node:path';
import { expect, it } from 'vitest';
import { enterGate } from '../../../../src/custody/custody-gate.ts';
import { batchOf, makeHome } from '../../../support/cli.ts';
import { inProcess } from '../../../support/in-process.ts';

it('archive says before when, works alone on the ledger, and archives closed months only', async () => {
  const home = inProcess(await makeHome());
  expect(await home.run(['archive'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--before YYYY-MM-DD'),
  });
  expect(await home.run(['archive', '--before', '2026-13-01'])).toMatchObject({ code: 2 });
  expect(await home.run(['archive', '--before', '2026-11-01'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('no ledger'),
  });
  await home.run(['submit', '--no-wait', home.put('pay.csv', batchOf(1))]);
  expect(await home.run(['archive', '--before', '2026-11-01'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('no closed month ended by then'),
  });
  const gate = await enterGate(join(home.dir, 'data/ledger.db'));
  expect(await home.run(['archive', '--before', '2026-11-01'])).toMatchObject({
    code: 11,
    err: expect.stringContaining('stop it, then run archive again'),
  });
  gate.release();
});
