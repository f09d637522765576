import { expect, it } from 'vitest';
import { look, sent, stateOf } from '../support/decided.ts';

it('P17: after a 429 and a second POST, details alone that say failed offer nothing to pay again; a whole list does', async () => {
  const { home, batch } = await sent('edge_429_once', { COUNTERFOIL_RECEIVER_ENABLED: 'false' });
  expect(home.sandbox.requests.bodies('PAY-0001')).toBe(2);
  const [taken] = home.sandbox.book.find('PAY-0001');
  home.sandbox.book.change(taken?.id ?? 0, { status: 'failed' });
  const { out } = await home.run(['retry', 'PAY-0001', '--json']);
  expect(out).toContain('a look-up shows one transfer, but it was sent more than once');
  expect(await stateOf(home, 'PAY-0001')).toBe('failed');
  await home.run(['report', batch]);
  const written = () => home.names(`data/reports/${batch}`);
  expect(written(), 'the first POST may have been taken all the same').not.toContain('failed.csv');
  await home.sandbox.settleAll();
  await home.run(['reconcile', '--full']);
  expect(written()).toContain('failed.csv');
  expect((await look(home, 'PAY-0001')).evidence[0]).toMatchObject({ can: 'successor' });
  expect(home.sandbox.requests.posts).toBe(2);
});
