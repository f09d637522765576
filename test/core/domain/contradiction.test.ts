import { expect, it } from 'vitest';
import { type Contradiction, contradictionText } from '../../../src/core/domain/contradiction.ts';
import type { PayoutState } from '../../../src/core/domain/payout.ts';

const against = (state: PayoutState): Contradiction => ({
  ...{ kind: 'against_ledger', source: 'webhook', said: 'failed', state },
});

it.each<[Contradiction, string]>([
  [against('success'), 'webhook says failed, the ledger says success'],
  [against('ready'), 'the service shows a transfer that was never sent'],
  [against('held'), 'the service shows a transfer that was never sent'],
  [against('cancelled'), 'the service shows a transfer that was cancelled before it was sent'],
  [against('refused'), 'a webhook for a refused payout'],
  [{ kind: 'against_webhook', said: 'success' }, 'a webhook says success, an earlier one said failed'],
  [{ kind: 'against_webhook', said: 'failed' }, 'a webhook says failed, an earlier one said success'],
  [
    {
      kind: 'differs',
      differences: [
        { field: 'amount', expected: '1', actual: '2' },
        { field: 'domain', expected: 'test', actual: 'live' },
      ],
    },
    'amount is 2, ours 1; domain is live, ours test',
  ],
])('%j reads: %s', (one, text) => {
  expect(contradictionText(one)).toBe(text);
});
