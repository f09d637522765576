import { expect, it } from 'vitest';
import { z } from 'zod';
import { collectionStoryShape, storyShape } from '../../../src/core/shapes/story-shapes.ts';
import { batchOf, type Home, until } from '../../support/cli.ts';
import { agree, failed, makeHome } from '../../support/decided.ts';
import { serving } from '../../support/serving.ts';

/** Every text in a value that is itself an object or a list in JSON. */
function jsonInTexts(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(jsonInTexts);
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return [];
  try {
    JSON.parse(value);
    return [value];
  } catch {
    return [];
  }
}

/** The story of a payout, in exactly the documented fields. */
async function story(home: Home, reference: string, ...more: string[]) {
  const told = await home.json(['show', reference, ...more], 0);
  expect(jsonInTexts(told)).toEqual([]);
  expect(JSON.stringify(told)).not.toContain('history_head');
  return z.strictObject({ schema: z.literal(1), ...storyShape.shape }).parse(told);
}

it('show --json holds the documented fields, and the messages of the service as fields', async () => {
  const faults = { 'PAY-0001': 'wrong_amount', 'PAY-0002': 'webhook_missing' } as const;
  const home = await makeHome({ faults }, { COUNTERFOIL_RECONCILIATION_WEBHOOK_GRACE_MINUTES: '0' });
  const { daemon } = await serving(home);
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.sandbox.settleAll();
  await home.sandbox.idle();
  await home.json(['reconcile'], 4);
  const told = await until(
    4000,
    () => story(home, 'PAY-0001'),
    ({ webhooks }) => webhooks.length === 1 && webhooks[0]?.applied_at !== null,
  );
  expect(Object.keys(told)).toEqual([
    'schema',
    ...['payout', 'attempts', 'webhooks', 'lookups', 'listings', 'discrepancies', 'history'],
  ]);
  expect(told.payout).toMatchObject({
    amount: '1001.50',
    account_number: '******0001',
    row: 2,
    order: { reference: 'PAY-0001', account_number: '******0001' },
  });
  expect(told.payout.cells.slice(0, 2)).toEqual(['PAY-0001', '******0001']);
  expect(told.attempts).toMatchObject([{ number: 1, outcome: 'accepted', reply: { success: true } }]);
  expect(told.webhooks).toMatchObject([{ deliveries: 1, stale: false, body: { reference: 'PAY-0001' } }]);
  expect(told.listings[0]).toMatchObject({ reference: 'PAY-0001', account_number: '******0001' });
  expect(told.discrepancies.map(({ kind }) => kind)).toContain('amount_conflict');
  expect(told.history[0]).toMatchObject({ seq: 1, event: 'intake', to_state: 'ready' });
  const missing = await story(home, 'PAY-0002', '--full-accounts');
  expect(missing.payout).toMatchObject({ account_number: '1000000002', resend: { made: 1 } });
  daemon.signal('SIGTERM');
  await daemon.done;
});

it('show --json names the payment that pays a failed one again', async () => {
  const { home } = await failed();
  await agree(home, 0, 'PAY-0001', '--no-wait');
  const first = await story(home, 'PAY-0001');
  expect(first.payout).toMatchObject({ state: 'failed', predecessor: null, successor: 'PAY-0001-R2' });
  const second = await story(home, 'PAY-0001-R2');
  expect(second.payout).toMatchObject({ state: 'ready', predecessor: 'PAY-0001', successor: null });
  expect(second.history[0]?.detail).toMatchObject({ successor_of: 'PAY-0001' });
});

it('show --json of a collection holds the documented fields', async () => {
  const home = await makeHome();
  const { daemon } = await serving(home);
  home.put('data/inbox/collections/week.csv', 'reference,amount,currency\nINV-1,100,NGN\n');
  await home.json(['submit'], 0);
  home.sandbox.book.addCollection({ reference: 'INV-1', amount: '100.00' });
  await home.sandbox.idle();
  const told = await until(
    4000,
    () => home.json(['show', 'INV-1'], 0),
    ({ collection }) => collection.state === 'received',
  );
  expect(jsonInTexts(told)).toEqual([]);
  expect(collectionStoryShape.loose().parse(told)).toMatchObject({
    collection: { expected_amount: '100.00', verified_status: 'success', dispute: [] },
    webhooks: [{ body: { event: 'transaction', data: { reference: 'INV-1' } } }],
    resend: { kind: 'never_asked' },
  });
  daemon.signal('SIGTERM');
  await daemon.done;
});
