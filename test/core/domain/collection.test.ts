import { describe, expect, it } from 'vitest';
import {
  type CollectionFacts,
  collectionDelayMs,
  completed,
  judgeCollection,
  lacksAmount,
  mergeWebhook,
  watchedForMs,
  withDispute,
  witnessesDiffer,
} from '../../../src/core/domain/collection.ts';
import {
  type CollectionWitness,
  findCollectionWitness,
} from '../../../src/core/domain/collection-witness.ts';

const word = (other: Partial<CollectionWitness> = {}): CollectionWitness => ({
  status: 'success',
  trx: 'COL1',
  amount: '100.00',
  currency: 'NGN',
  domain: 'test',
  fee: null,
  paidAt: null,
  ...other,
});
const facts = (other: Partial<CollectionFacts> = {}): CollectionFacts => ({
  mode: 'test',
  promised: { amount: 10_000n, currency: 'NGN' },
  hasWebhook: false,
  webhook: null,
  dispute: [],
  verified: null,
  receivedAt: null,
  ...other,
});
const state = (other: Partial<CollectionFacts>) => judgeCollection(facts(other)).state;

describe('where a collection stands', () => {
  it('P14: is never received on a webhook alone', () => {
    expect(state({})).toBe('expected');
    expect(state({ hasWebhook: true, webhook: word() })).toBe('heard');
    expect(state({ hasWebhook: true, webhook: word(), verified: word({ status: 'pending' }) })).toBe('heard');
    expect(state({ hasWebhook: true, webhook: word(), verified: word() })).toBe('received');
    expect(state({ promised: null, verified: word() })).toBe('received');
    expect(state({ verified: word({ status: 'failed' }) })).toBe('failed');
  });

  it.each([
    ['amount', { verified: word({ amount: '90' }) }, '100.00', '90', 'expectation and verify'],
    [
      'amount',
      { hasWebhook: true, webhook: word({ amount: '90.00' }) },
      '100.00',
      '90.00',
      'expectation and webhook',
    ],
    [
      'currency',
      { verified: word({ currency: 'ZAR' }) },
      'NGN 100.00',
      'ZAR 100.00',
      'expectation and verify',
    ],
    [
      'amount',
      { hasWebhook: true, webhook: word({ amount: '1.00' }), verified: word() },
      '100.00',
      '1.00',
      'verify and webhook',
    ],
    ['domain', { verified: word({ domain: 'live' }) }, 'test', 'live', 'this mode and verify'],
    [
      'status',
      { hasWebhook: true, webhook: word(), verified: word({ status: 'failed' }) },
      'success',
      'failed',
      'webhook and verify',
    ],
    [
      'status',
      { receivedAt: '2026-11-21T10:00:00.000Z', verified: word({ status: 'returned' }) },
      'success',
      'returned',
      'verify before and verify now',
    ],
    [
      'trx',
      { hasWebhook: true, webhook: word(), verified: word({ trx: 'COL2' }) },
      'COL1',
      'COL2',
      'webhook and verify: paid twice',
    ],
  ] as const)('P18: another %s is a conflict (%#)', (field, other, expected, actual, between) => {
    const judged = judgeCollection(facts(other));
    expect(judged).toEqual({ state: 'conflict', differences: [{ field, expected, actual, between }] });
  });

  it('takes the same amount in another writing for the same', () => {
    expect(state({ verified: word({ amount: '100' }) })).toBe('received');
    expect(state({ verified: word({ amount: '100.000' }) })).toBe('received');
    expect(state({ verified: word({ domain: null }) })).toBe('received');
  });

  it('P13: what was promised is not received by a success that shows no amount, unless a webhook shows it', () => {
    const bare = word({ amount: null, currency: null });
    expect(state({ verified: bare })).toBe('expected');
    expect(state({ verified: word({ currency: null }) }), 'what it shows agrees').toBe('received');
    expect(state({ promised: null, verified: bare })).toBe('received');
    expect(state({ hasWebhook: true, webhook: word(), verified: bare })).toBe('received');
    expect(state({ hasWebhook: true, webhook: word({ amount: '90.00' }), verified: bare })).toBe('conflict');
    expect(state({ hasWebhook: true, webhook: word({ status: 'pending' }), verified: bare })).toBe('heard');
    expect([word(), bare, word({ ...bare, status: 'pending' })].map(lacksAmount)).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('lets a failed try of the payer stand beside the one that arrived', () => {
    const webhook = word({ status: 'failed', trx: 'COL0' });
    expect(state({ hasWebhook: true, webhook, verified: word() })).toBe('received');
  });
});

describe('two webhooks about one collection', () => {
  it('P18: differ in amount or in their final word, and the first stands', () => {
    expect(mergeWebhook(word(), word({ amount: '90.00' }))).toMatchObject({
      webhook: { amount: '100.00' },
      dispute: [{ field: 'amount', expected: '100.00', actual: '90.00' }],
    });
    expect(mergeWebhook(word(), word({ status: 'failed' })).dispute).toHaveLength(1);
    expect(mergeWebhook(null, word())).toEqual({ webhook: word(), dispute: [] });
    const failed = word({ status: 'failed' });
    expect(mergeWebhook(failed, word())).toMatchObject({ webhook: failed, dispute: [{ field: 'status' }] });
    const pending = word({ status: 'pending' });
    expect(mergeWebhook(pending, word({ amount: '1' }))).toMatchObject({
      webhook: pending,
      dispute: [{ field: 'amount' }],
    });
    expect(mergeWebhook(word(), word({ trx: 'COL2' })).dispute).toMatchObject([{ field: 'trx' }]);
  });

  it('P18: pending then success is no conflict, nor is a try that failed before', () => {
    const pending = mergeWebhook(word({ status: 'pending' }), word());
    expect(pending).toEqual({ webhook: word(), dispute: [] });
    expect(mergeWebhook(word(), word({ status: 'pending' }))).toEqual({ webhook: word(), dispute: [] });
    const failed = word({ status: 'failed', trx: 'COL0' });
    expect(mergeWebhook(failed, word())).toEqual({ webhook: word(), dispute: [] });
    expect(mergeWebhook(word(), failed)).toEqual({ webhook: word(), dispute: [] });
  });
});

describe('the word about a collection in a reply', () => {
  const ours = { referenceKey: 'inv-1', trx: null };
  const data = { reference: 'INV-1', trx: 'COL1', amount: '100.00', currency: 'ngn', status: 'success' };

  it('P13: is found wherever it is nested, by reference or trx, and never in the envelope', () => {
    const nested = { success: true, status: '00', message: 'ok', data: { transaction: [data] } };
    expect(findCollectionWitness(nested, ours)).toMatchObject({
      kind: 'witness',
      witness: { status: 'success', currency: 'NGN' },
    });
    const byTrx = { data: { ...data, reference: 'SERVICE-OWN' } };
    expect(findCollectionWitness(byTrx, { ...ours, trx: 'COL1' })).toMatchObject({ kind: 'witness' });
    expect(findCollectionWitness(byTrx, ours)).toEqual({ kind: 'none' });
    const bare = { success: true, status: 'success', reference: 'INV-1', message: 'found' };
    expect(findCollectionWitness(bare, ours)).toEqual({ kind: 'none' });
  });

  it('P13: is none in a reply that says it did not succeed, nor without a status of the three', () => {
    expect(findCollectionWitness({ success: false, status: '05', data }, ours)).toEqual({ kind: 'none' });
    expect(findCollectionWitness({ data: { ...data, status: 'processing' } }, ours)).toEqual({
      kind: 'none',
    });
    for (const odd of [null, 'text', 7n, [], { data: [] }])
      expect(findCollectionWitness(odd, ours)).toEqual({ kind: 'none' });
  });

  it.each(['failed', 'pending', 'processing'])(
    'P13: a success that a payer wrote inside of a payment that is %s is no word',
    (status) => {
      const claim = { reference: 'INV-1', trx: 'X', status: 'success', amount: '100.00', currency: 'NGN' };
      for (const key of ['metadata', 'data', 'order', 'customer'])
        for (const inside of [claim, [claim], { deeper: claim }]) {
          const payment = { ...data, status, [key]: inside };
          for (const shown of [payment, [payment], { transaction: payment }, { data: [payment] }]) {
            const found = findCollectionWitness({ success: true, status: '00', data: shown }, ours);
            if (found.kind === 'witness') expect(found.witness).toMatchObject({ trx: 'COL1', status });
            else expect(found).toEqual({ kind: 'none' });
          }
        }
    },
  );

  it('P13: a claim beside a payment, or inside of one under another name, makes nothing received', () => {
    const failed = { ...data, status: 'failed' };
    const claim = { ...data, trx: 'X' };
    const beside = { data: { transaction: failed, extra: claim } };
    expect(findCollectionWitness(beside, ours).kind).toBe('contradictory');
    expect(findCollectionWitness({ data: { list: [{ ...failed }], extra: [claim] } }, ours).kind).toBe(
      'contradictory',
    );
    expect(findCollectionWitness({ data: { result: { payment: failed }, extra: claim } }, ours).kind).toBe(
      'contradictory',
    );
    expect(findCollectionWitness({ data: { transaction: failed, metadata: claim } }, ours)).toMatchObject({
      witness: { status: 'failed' },
    });
    const otherName = { id: '7', status: 'failed', amount: '100.00', order: claim };
    expect(findCollectionWitness({ data: otherName }, ours)).toEqual({ kind: 'none' });
    expect(findCollectionWitness({ data: { ...data, reference: 'OTHER', order: claim } }, ours)).toEqual({
      kind: 'none',
    });
  });

  it('P13: a wrapper may echo the reference; a payment without a known status beside another says nothing', () => {
    const echo = { success: true, status: '00', data: { reference: 'INV-1', transaction: data } };
    expect(findCollectionWitness(echo, ours)).toMatchObject({
      kind: 'witness',
      witness: { status: 'success' },
    });
    const odd = { ...data, status: 'processing' };
    expect(findCollectionWitness({ data: [data, odd] }, ours)).toEqual({ kind: 'none' });
    expect(findCollectionWitness({ data: [data, { ...odd, trx: 'COL2' }] }, ours)).toMatchObject({
      kind: 'witness',
    });
  });

  it('contradicts itself where two words under one trx differ, or two payments arrived', () => {
    const differing = { data: [data, { ...data, amount: '90.00' }] };
    expect(findCollectionWitness(differing, ours).kind).toBe('contradictory');
    const both = { data: [data, { ...data, trx: 'COL2' }] };
    expect(findCollectionWitness(both, ours).kind).toBe('contradictory');
    const tries = { data: [{ ...data, trx: 'COL0', status: 'failed' }, data] };
    expect(findCollectionWitness(tries, ours)).toMatchObject({ kind: 'witness', witness: { trx: 'COL1' } });
  });

  it('P13: is found in an object of its own, in a wrapper, and beside the status of an envelope', () => {
    const success = { kind: 'witness', witness: { status: 'success' } };
    expect(findCollectionWitness(data, ours)).toMatchObject(success);
    expect(findCollectionWitness({ transaction: data }, ours)).toMatchObject(success);
    const envelope = { success: true, status: 'failed', reference: 'INV-1', data };
    expect(findCollectionWitness(envelope, ours)).toMatchObject(success);
    expect(findCollectionWitness({ data: { reference: 'INV-1', status: 'success' } }, ours)).toMatchObject(
      success,
    );
    expect(
      findCollectionWitness({ data: { trx: 'COL1', status: 'success' } }, { ...ours, trx: 'COL1' }),
    ).toEqual({
      kind: 'witness',
      witness: {
        ...{ status: 'success', trx: 'COL1', amount: null, currency: null },
        ...{ domain: null, fee: null, paidAt: null },
      },
    });
  });

  it('P13: is none of another payment, and no reference is one that stands elsewhere or is no text', () => {
    const other = { ...data, reference: 'INV-2', trx: 'COL9' };
    expect(findCollectionWitness({ data: other }, { ...ours, trx: 'COL1' })).toEqual({ kind: 'none' });
    expect(findCollectionWitness({ data: { ...other, description: 'INV-1' } }, ours)).toEqual({
      kind: 'none',
    });
    const numbered = { ...other, reference: 7 };
    expect(findCollectionWitness({ data: numbered }, { ...ours, referenceKey: '7' })).toEqual({
      kind: 'none',
    });
    const unnamed = { reference: 'INV-1', ref: '', status: 'success' };
    expect(findCollectionWitness({ data: unnamed }, ours).kind).toBe('witness');
  });

  it('P13: is none in an object with two statuses, or with contents of its own', () => {
    expect(findCollectionWitness({ data: { ...data, state: 'failed' } }, ours)).toEqual({ kind: 'none' });
    expect(findCollectionWitness({ data: { ...data, data: {} } }, ours)).toEqual({ kind: 'none' });
  });

  it('P13: is looked for down to the eighth level and among twenty thousand objects, no further', () => {
    const wrapped = (levels: number): unknown =>
      Array.from({ length: levels }).reduce<unknown>((inner) => ({ inner }), data);
    expect(findCollectionWitness(wrapped(7), ours).kind).toBe('witness');
    expect(findCollectionWitness(wrapped(8), ours).kind).toBe('none');
    const listed = (before: number): unknown => ({
      list: [...Array.from({ length: before }, () => ({})), data],
    });
    expect(findCollectionWitness(listed(19_999), ours).kind).toBe('witness');
    expect(findCollectionWitness(listed(20_000), ours).kind).toBe('none');
  });

  it('P13: a try without a trx may be the one that arrived', () => {
    const { trx: _, ...unnamed } = data;
    const tries = [
      [{ ...unnamed, status: 'failed' }, data],
      [{ ...data, status: 'failed' }, unnamed],
    ];
    for (const list of tries) expect(findCollectionWitness({ data: list }, ours).kind).toBe('contradictory');
  });

  it('reads the mode in any case, and no time that is none', () => {
    const found = findCollectionWitness({ data: { ...data, domain: 'TEST', paid_at: 'soon' } }, ours);
    expect(found).toMatchObject({ witness: { domain: 'test', paidAt: null } });
  });

  it('takes a time of payment without a zone for Lagos time', () => {
    const found = findCollectionWitness({ data: { ...data, paid_at: '2026-11-21 11:00:00' } }, ours);
    expect(found).toMatchObject({ witness: { paidAt: '2026-11-21T10:00:00.000Z' } });
  });
});

it('P19: what was heard is asked about often at first, what was not, less and less often', () => {
  const minute = 60_000;
  expect([0, 1, 2, 3].map((rung) => collectionDelayMs(rung, 0) / minute)).toEqual([1, 4, 10, 45]);
  expect(collectionDelayMs(40, 48 * 60 * minute) / minute).toBe(24 * 60);
  expect([0, 1, 2, 9].map((rung) => collectionDelayMs(rung, null) / minute)).toEqual([60, 360, 1440, 1440]);
});

describe('two words about one collection', () => {
  const between = (one: Partial<CollectionWitness>, other: Partial<CollectionWitness>) =>
    witnessesDiffer(word(one), word(other), 'a and b').map(({ field, expected, actual }) => [
      ...[field, expected, actual],
    ]);
  it('differ in the currency with its amount, else in the amount, in the mode and in how it ended', () => {
    expect(between({}, {})).toEqual([]);
    expect(between({}, { currency: 'ZAR', amount: '1' })).toEqual([['currency', 'NGN 100.00', 'ZAR 1']]);
    expect(between({ amount: null }, { currency: 'ZAR', amount: null })).toEqual([
      ['currency', 'NGN', 'ZAR'],
    ]);
    expect(between({}, { domain: 'live' })).toEqual([['domain', 'test', 'live']]);
    expect(between({}, { amount: '100' })).toEqual([]);
    expect(between({ amount: '1,0' }, { amount: '1,0' })).toEqual([]);
    expect(between({ amount: '1,0' }, { amount: '1,1' })).toEqual([['amount', '1,0', '1,1']]);
  });
  it('say nothing where one of them names no currency, amount or mode', () => {
    const silent = { currency: null, amount: null, domain: null };
    expect([between(silent, {}), between({}, silent)]).toEqual([[], []]);
  });
  it('are of two attempts under two trx: paid twice where both succeeded', () => {
    expect(between({}, { trx: 'COL2' })).toEqual([['trx', 'COL1', 'COL2']]);
    expect(between({}, { trx: 'COL2', status: 'failed' })).toEqual([]);
    expect(between({ trx: null }, { amount: '1' })).toEqual([['amount', '100.00', '1']]);
    expect(between({}, { trx: null, amount: '1' })).toEqual([['amount', '100.00', '1']]);
  });
});

it('an authentic webhook completes what the verify endpoint leaves out of the same attempt', () => {
  const bare = word({ amount: null, currency: null });
  expect(completed(bare, word())).toMatchObject({ amount: '100.00', currency: 'NGN' });
  expect(completed(word({ currency: 'ZAR', amount: '1' }), word())).toMatchObject({ currency: 'ZAR' });
  expect(completed(bare, word({ trx: 'COL2' }))).toEqual(bare);
  expect(completed({ ...bare, trx: null }, word())).toMatchObject({ amount: '100.00' });
  expect(completed(bare, word({ trx: null }))).toMatchObject({ amount: '100.00' });
  expect(completed(bare, word({ status: 'pending' }))).toEqual(bare);
});

it('keeps each difference once, the earlier first, twenty in all', () => {
  const one = (i: number) => ({ field: 'trx' as const, expected: '', actual: `${i}`, between: '' });
  const many = Array.from({ length: 30 }, (_, i) => one(i));
  expect(withDispute([one(1)], [one(2), one(1)])).toEqual([one(1), one(2)]);
  expect(withDispute(many.slice(0, 15), many)).toEqual(many.slice(0, 20));
});

it('blames the expectation where nothing else agrees, and no failed attempt for another amount', () => {
  const failed = word({ status: 'failed', amount: '1.00' });
  expect(judgeCollection(facts({ verified: failed }))).toEqual({ state: 'failed', differences: [] });
  const both = { hasWebhook: true, webhook: word({ amount: '1.00' }), verified: word({ amount: '2.00' }) };
  expect(judgeCollection(facts(both)).differences.at(-1)).toMatchObject({ between: 'webhook and verify' });
  const unpromised = { ...both, promised: null };
  expect(judgeCollection(facts(unpromised)).differences).toMatchObject([{ between: 'webhook and verify' }]);
  const noAmount = word({ currency: 'ZAR', amount: null });
  expect(judgeCollection(facts({ verified: noAmount })).differences).toMatchObject([
    { expected: 'NGN 100.00', actual: 'ZAR' },
  ]);
});

it('what was received is in conflict only once verify says that it ended otherwise', () => {
  const received = (verified: CollectionWitness | null, webhook: CollectionWitness | null = null) =>
    judgeCollection(facts({ receivedAt: '2026-11-21T10:00:00.000Z', verified, webhook })).differences.length;
  expect([received(null), received(word({ status: 'pending' })), received(word())]).toEqual([0, 0, 0]);
  expect(received(word({ status: 'failed' }))).toBe(1);
  expect(received(word({ status: 'failed' }), word())).toBe(1);
});

it('P19: is watched for ninety days: after an hour, six hours, then daily', () => {
  const hour = 3_600_000;
  expect([0, 1, 2, 9].map((rung) => collectionDelayMs(rung, null))).toEqual([
    ...[hour, 6 * hour, 24 * hour, 24 * hour],
  ]);
  expect(watchedForMs).toBe(90 * 24 * hour);
});
