import { expect, it } from 'vitest';
import { csv, row } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

it('pays a narration with a line separator, signed as the service signs it, and no output breaks at it', async () => {
  const home = await makeHome({ settleMs: 1 });
  const file = home.put('pay.csv', csv(row(1).replace('Salary', 'Net\u2028pay'), row(2)));
  const { batches } = await home.json(['submit', file], 0);
  expect(batches[0]).toMatchObject({ state: 'sent', payouts: { pending: 2 } });
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  const results = home.read(`data/reports/${batches[0].batch}/results.csv`);
  expect(results).toContain(',"Net\u2028pay",');
  for (const args of [['show', 'PAY-0001'], ['payouts'], ['status'], ['verify']])
    expect((await home.run(args)).out, args.join(' ')).not.toContain('\u2028');
});
