import { expect, it } from 'vitest';
import { batchOf, makeHome } from '../../support/cli.ts';

it('names the command that takes files in and sends, while some wait and no daemon runs', async () => {
  const home = await makeHome();
  const next = async (): Promise<string | undefined> =>
    /^Next: (.*)$/m.exec((await home.run(['status'])).out)?.[1];
  expect(await next(), 'no file').toBe('counterfoil submit FILE');
  home.put('data/inbox/pay.csv', batchOf(2));
  expect(await next(), 'a file in the inbox').toBe('counterfoil submit');
  await home.run(['submit', '--no-wait']);
  expect(await next(), 'payouts that are ready').toBe('counterfoil submit');
  await home.run(['submit']);
  expect(await next(), 'all sent').toBe('counterfoil reconcile');
});
