import { expect, it } from 'vitest';
import { createScenario } from '../../src/sandbox/scenarios.ts';
import { batchOf, type Home, type Json, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { serving } from '../support/serving.ts';

const count = 20;
const references = Array.from({ length: count }, (_, n) => `PAY-${`${n + 1}`.padStart(4, '0')}`);
const planted = references.filter((one) => createScenario('wrong-fee', 3).faultFor(one) === 'wrong_fee');

/** Sends twenty payouts to a service that names another fee in some of its webhooks, and settles them. */
async function sentAndSettled(): Promise<Home> {
  const home = await makeHome({ scenario: 'wrong-fee', seed: 3 });
  await serving(home);
  await home.json(['submit', home.put('pay.csv', batchOf(count))], 0);
  await home.sandbox.settleAll();
  await home.sandbox.idle();
  return home;
}

const applied = async (home: Home): Promise<void> => {
  await until(
    8000,
    () => home.json(['status'], 0),
    ({ webhooks }) => webhooks.applied >= count,
  );
};

it('the scenario wrong-fee shows every payout whose webhook names another fee than the list, and who said what', async () => {
  expect(planted.length).toBeGreaterThan(2);
  const home = await sentAndSettled();
  await applied(home);
  const run = await home.json(['reconcile'], 4);
  expect(run.discrepancies.open).toEqual({ fee_conflict: planted.length });
  const { discrepancies }: Json = await home.json(['discrepancies'], 4);
  expect(discrepancies.map((one: Json) => one.reference).toSorted()).toEqual(planted);
  const { evidence, expected, actual } = discrepancies[0];
  expect(evidence).toContain('webhook');
  expect(evidence).toContain('listing');
  expect([expected, actual]).toContain('99.99');
  expect((await home.json(['reconcile'], 4)).discrepancies, 'the next run').toMatchObject({
    open: { fee_conflict: planted.length },
    opened: 0,
  });
});
