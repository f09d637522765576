import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { preflight } from '../../src/submission/preflight.ts';
import { clientOf } from './setting.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await createSandbox();
});
afterEach(() => sandbox.stop());

async function check(of: Pick<Sandbox, 'url' | 'keys'> = sandbox) {
  const client = clientOf(of);
  const result = await preflight(client, 'test', of.url);
  await client.close();
  return result;
}

it('P24: clear when the list answers and shows only this mode', async () => {
  expect(await check()).toEqual({ kind: 'clear' });
  sandbox.book.plant();
  expect(await check()).toEqual({ kind: 'clear' });
});

it('P24: another mode’s transfer in the list keeps the process from sending', async () => {
  sandbox.book.plant({ domain: 'live' });
  expect(await check()).toMatchObject({ kind: 'problem', problem: expect.stringContaining('live transfer') });
});

it('a refused key and an absent service are problems that say what to do', async () => {
  const keys = { test: { ...sandbox.keys.test, secretKey: 'sk_test_wrong' } };
  expect(await check({ url: sandbox.url, keys })).toMatchObject({
    problem: expect.stringContaining('COUNTERFOIL_TEST_SECRET_KEY'),
  });
  const { url } = sandbox;
  await sandbox.stop();
  expect(await check({ url, keys })).toMatchObject({ problem: expect.stringContaining('service.base_url') });
  expect(sandbox.requests.posts).toBe(0);
});
