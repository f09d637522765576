import { expect, it } from 'vitest';
import { hasNoList, plainTrouble, runError } from '../../../src/core/domain/run-error.ts';

const config = { mode: 'live' as const, service: { baseUrl: 'https://pay.test' } };

it('a run that read a list says nothing but that it was interrupted', () => {
  expect([hasNoList({ list: 'unread' }), hasNoList({ list: 'incomplete' })]).toEqual([true, false]);
  expect(runError(config, { list: 'complete' }, false)).toBeUndefined();
  expect(runError(config, { list: 'complete' }, true)).toBe('interrupted; run reconcile again');
});

it('a run without a list says why, that nothing was compared, and what to check', () => {
  const unread = { list: 'unread' as const };
  expect(runError(config, unread, true)).toBe('interrupted before the list was read; run reconcile again');
  expect(runError(config, { ...unread, trouble: 'fetch failed: ECONNREFUSED 10.0.0.1:443' }, false)).toBe(
    'the service gave no list: nothing was compared, and no payouts were marked missing. Check the network and service.base_url, https://pay.test, then run reconcile again (connection refused, 10.0.0.1:443)',
  );
  expect(runError(config, { ...unread, trouble: 'the service refused the key' }, false)).toBe(
    'the service refused the live key: nothing was compared, and no payouts were marked missing. Check COUNTERFOIL_LIVE_SECRET_KEY, then run reconcile again (the service refused the key)',
  );
  expect(runError(config, unread, false)).toMatch(/^the service gave no list: .* \(\)$/);
});

it.each([
  ['connect ECONNREFUSED 127.0.0.1:9', 'connection refused, 127.0.0.1:9'],
  ['getaddrinfo ENOTFOUND pay.test', 'no such host'],
  ['read ECONNRESET', 'the connection broke'],
  ['The operation was aborted due to timeout', 'no answer came in time'],
  ['connect ETIMEDOUT [::1]:443)', 'no answer came in time, [::1]:443'],
  ['page 3 is no JSON', 'page 3 is no JSON'],
])('says of the failure "%s" in plain words: %s', (trouble, words) => {
  expect(plainTrouble(trouble)).toBe(words);
});
