import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { collectionPages } from '../../../src/books/collection-cells.ts';
import { keptReference } from '../../../src/core/domain/others-reference.ts';
import type { LookUpReply, ServiceTrouble } from '../../../src/core/service/types.ts';
import {
  collectionStory,
  collectionsInOrder,
} from '../../../src/watching/collections/collection-lines.sql.ts';
import { findCollection } from '../../../src/watching/collections/collections.sql.ts';
import { expectSome, openFile } from '../../../src/watching/collections/expectations.sql.ts';
import { createCollectionLookUps } from '../../../src/watching/collections/verify-collections.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { storeDeliveries } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { at, makeLedger, type TestLedger } from '../../support/ledger.ts';
import { handClock } from '../lookups/setting.ts';
import { absent, data, reply, shown, silent } from './verify-replies.ts';

const minute = 60_000;
let ledger: TestLedger;
const clock = handClock();
beforeEach(async () => {
  ledger = await makeLedger();
  clock.set(0);
});
afterEach(() => ledger.remove());

/** Stores one authentic delivery about INV-1 as the receiver does, and applies it. */
async function deliver(
  patch: Record<string, unknown> = {},
  { stale = false, root = {} } = {},
): Promise<void> {
  const money = { amount: '100.00', currency: 'NGN', domain: 'test', paid_at: '2026-11-21 11:00:00' };
  const data = { reference: 'INV-1', trx: 'COL1', status: 'success', ...money, ...patch };
  const body = Buffer.from(JSON.stringify({ event: 'transaction', data, ...root }));
  const digest = createHash('sha256').update(body).digest('hex');
  const about = {
    reference: data.reference === null ? null : keptReference(String(data.reference)),
    trx: String(data.trx),
    headers: '{}',
  };
  await ledger.write((trx) =>
    storeDeliveries(trx, [{ digest, receivedAt: clock.iso(), kind: 'transaction', ...about, body, stale }]),
  );
  await applyWebhooks({ ledger, clock });
}

/** Promises INV-1 as an expectation file does. */
async function expectInvoice(amount = 10_000n): Promise<void> {
  const file = { id: 'collections-x' };
  await ledger.write(async (trx) => {
    await openFile(trx, { ...file, file_name: 'x.csv', content_hash: 'x', row_count: 1n, created_at: at(0) });
    const row = { row: 2, reference: 'INV-1', referenceKey: 'inv-1', amount, currency: 'NGN' };
    await expectSome(trx, file.id, clock.iso(), [row]);
    await trx.updateTable('collection_files').set({ phase: 'loaded' }).execute();
  });
}

/** Asks what is due; `meanwhile` happens while the answer is on its way. */
async function verify(
  answer: LookUpReply | ServiceTrouble,
  meanwhile: () => Promise<void> = async () => {},
): Promise<string[]> {
  const asked: string[] = [];
  const service = {
    async verifyTransaction(reference: string) {
      asked.push(reference);
      await meanwhile();
      return answer;
    },
  };
  const limiter = { take: async () => undefined };
  const rules = { concurrency: 2 };
  await createCollectionLookUps({ ledger, clock, service, limiter, rules }).askDue({ budget: 10 });
  return asked;
}
async function allOf<T>(pages: AsyncIterable<T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}
const state = async () => (await findCollection(ledger.db, 'inv-1'))?.state;
const story = () => collectionStory(ledger.db, 'INV-1');

it('P14: a webhook makes a collection heard; only the verify endpoint makes it received', async () => {
  await expectInvoice();
  expect(await state()).toBe('expected');
  await deliver();
  expect(await state()).toBe('heard');
  expect(await verify(shown())).toEqual(['INV-1']);
  expect(await state()).toBe('received');
  const told = await story();
  expect(told?.collection).toMatchObject({
    told_status: 'success',
    told_amount: '100.00',
    told_paid_at: '2026-11-21T10:00:00.000Z',
    trx: 'COL1',
    received_at: at(0),
    ask_at: null,
  });
  expect(told?.webhooks).toMatchObject([{ verdict: 'says', said: 'success' }]);
  expect(told?.lookups).toMatchObject([{ outcome: 'says success' }]);
  expect(await verify(shown()), 'nothing more is asked').toEqual([]);
});

it('P18: byte-equal repeats have one effect; a stale delivery is a reason to ask, not a witness', async () => {
  await deliver({}, { stale: true });
  expect((await story())?.collection).toMatchObject({ state: 'heard', told_status: null });
  await deliver();
  await deliver();
  const told = await story();
  expect(told?.webhooks.map((w) => [w.deliveries, w.verdict, w.said])).toEqual([[3n, 'says', 'success']]);
  expect(told?.collection.told_status).toBe('success');
});

it('P18: two webhooks about one collection that differ are a conflict, whatever is verified later', async () => {
  await deliver();
  await deliver({ amount: '90.00' });
  expect(await state()).toBe('conflict');
  expect((await story())?.webhooks.map((w) => [w.verdict, JSON.parse(w.differences ?? '[]')])).toMatchObject([
    ['says', []],
    ['differs', [{ field: 'amount', actual: '90.00', expected: '100.00' }]],
  ]);
  await verify(shown());
  expect(await state()).toBe('conflict');
});

it('P18: a webhook of the other mode is a conflict; one that nobody can place is kept', async () => {
  await deliver({ domain: 'live' });
  expect(await state()).toBe('conflict');
  await deliver({ reference: null, trx: '' });
  const kept = await ledger.db.selectFrom('webhooks').select('verdict').orderBy('id', 'desc').execute();
  expect(kept[0]?.verdict).toBe('not_understood');
});

it.each([
  'INV 0001',
  '#77',
  '_x1',
  'FACTURE-é-1',
  '../../x',
  '漢字 1',
  '=1+1',
  `${'x'.repeat(200)}1`,
  'y'.repeat(500),
])('P22: a collection named %s is noted, asked about and received', async (reference) => {
  await deliver({ reference });
  expect(await verify(shown({ reference }))).toEqual([reference]);
  const lines = await allOf(collectionsInOrder(ledger.db));
  expect(lines.map(({ row }) => [row.reference, row.state])).toEqual([[reference, 'received']]);
});

it.each(['.', '..', 'a\0b', 'half \ud800', 'z'.repeat(501)])(
  'P22: a collection that no request can name is noted, and says so',
  async (reference) => {
    await deliver({ reference });
    expect(await verify(shown())).toEqual([]);
    const kept = keptReference(reference);
    const story = await collectionStory(ledger.db, kept);
    expect(story).toMatchObject({ collection: { state: 'heard', told_amount: '100.00' } });
    expect(story?.lookups.map(({ outcome }) => outcome)).toEqual([
      'cannot be asked about: no request can name this reference',
    ]);
    expect(story?.collection.ask_at, 'out of the way of what can be asked about').toBe(at(minute));
    expect((await allOf(collectionPages(ledger.db, 'UTC')))[1]).toContain('webhook+cannot be asked about');
  },
);

it('P22: two endless references that begin alike are two collections', async () => {
  for (const end of ['a', 'b']) await deliver({ reference: `${'z'.repeat(5000)}${end}`, trx: end });
  const lines = await allOf(collectionsInOrder(ledger.db));
  expect(lines.map(({ row }) => row.told_trx)).toEqual(['a', 'b']);
});

it('a webhook under the service’s own reference is placed by its trx', async () => {
  await expectInvoice();
  await verify(shown());
  await deliver({ reference: 'SERVICE-OWN' });
  expect((await story())?.collection).toMatchObject({ state: 'received', heard_at: at(0) });
  expect(await findCollection(ledger.db, 'SERVICE-OWN')).toBeUndefined();
});

it('P13: another amount or domain than expected is no receipt; a failed one is failed', async () => {
  await expectInvoice(9_000n);
  await verify(shown());
  expect(await state()).toBe('conflict');
  clock.set(60 * minute);
  await verify(shown({ amount: '90.00', domain: 'live' }));
  expect(await state()).toBe('conflict');
  clock.set(8 * 60 * minute);
  await verify(shown({ amount: '90.00', status: 'failed' }));
  expect(await state()).toBe('failed');
  clock.set(40 * 60 * minute);
  await verify(shown({ amount: '90.00' }));
  expect(await state(), 'the payer tried again').toBe('received');
});

it('P14: what was received and is shown as failed afterwards is a conflict, never a silent overwrite', async () => {
  await expectInvoice();
  await verify(shown());
  await deliver({ status: 'pending' });
  await verify(shown({ status: 'refunded' }));
  expect(await state()).toBe('conflict');
  expect((await story())?.collection.received_at).toBe(at(0));
});

it('P16: absence and silence prove nothing, and are asked again on the ladder, a bounded number of times', async () => {
  await expectInvoice();
  expect(await verify(absent())).toEqual(['INV-1']);
  expect(await state()).toBe('expected');
  expect(await verify(absent())).toEqual([]);
  clock.set(60 * minute);
  await verify(silent);
  const { collection, lookups } = (await story()) ?? {};
  expect(collection).toMatchObject({ state: 'expected', answered_at: at(0), answer: 'not_found' });
  expect(lookups?.map((one) => one.outcome)).toEqual(['not_found', 'error: timeout']);
  let asked = 0;
  for (let day = 1; day < 200; day++) {
    clock.set(day * 24 * 60 * minute);
    asked += (await verify(absent())).length;
  }
  expect(asked).toBeGreaterThan(60);
  expect(asked).toBeLessThan(100);
});

it('P4: a webhook that comes while an answer is on its way raises the question again', async () => {
  await expectInvoice();
  await verify(absent(), async () => {
    clock.set(5);
    await deliver();
  });
  expect(await verify(shown())).toEqual(['INV-1']);
  expect(await state()).toBe('received');
});

it('P4: an older answer of verify that comes late does not make received what a newer one shows as failed', async () => {
  await expectInvoice();
  await verify(shown(), async () => {
    clock.set(2_000);
    await verify(shown({ status: 'failed' }));
    clock.set(3_000);
  });
  const { collection, lookups } = (await story()) ?? {};
  expect(collection).toMatchObject({ state: 'failed', verified_at: at(2_000), answered_at: at(2_000) });
  expect(collection?.received_at).toBeNull();
  expect(lookups?.map((one) => [one.asked_at, one.outcome])).toEqual([
    [at(2_000), 'says failed'],
    [at(0), 'says success'],
  ]);
  expect(collection?.ask_at, 'which of the two is the newer one is asked at once').toBe(at(3_000));
  await verify(shown());
  expect((await story())?.collection).toMatchObject({ received_at: at(3_000), ask_at: null });
});

it.each(['pending', 'failed'])(
  'P4: an older answer that says %s does not undo a newer receipt',
  async (status) => {
    await deliver();
    await verify(shown({ status }), async () => {
      clock.set(2_000);
      await verify(shown());
    });
    const told = await story();
    expect(told?.collection).toMatchObject({ received_at: at(2_000), verified_status: 'success' });
    expect(told?.collection.state).toBe('received');
    expect(told?.collection.ask_at).toBe(status === 'failed' ? at(2_000) : null);
  },
);

it('P4: a late “not found” does not take the place of a newer answer', async () => {
  await expectInvoice();
  await verify(absent(), async () => {
    clock.set(2_000);
    await verify(shown());
  });
  expect((await story())?.collection).toMatchObject({
    ...{ state: 'received', answered_at: at(2_000), answer: 'says success', ask_at: null },
  });
});

it('a clock that was put back does not make every later answer an old one', async () => {
  await expectInvoice();
  clock.set(60 * minute);
  await verify(shown({ status: 'pending' }));
  clock.set(0);
  await deliver();
  await verify(shown());
  expect(await state()).toBe('received');
});

it('P13: a success that shows no amount is no receipt of what was promised, says so, and is asked again', async () => {
  await expectInvoice();
  await verify(shown({ amount: undefined }));
  const { collection } = (await story()) ?? {};
  const answer = 'says success, but shows no amount: received only if a webhook shows it';
  expect(collection).toMatchObject({ state: 'expected', received_at: null, answer });
  expect(collection?.ask_at).toBe(at(60 * minute));
  clock.set(60 * minute);
  await verify(shown());
  expect(await state()).toBe('received');
});

it('P13: a success in the metadata of a payment that failed is no receipt', async () => {
  await expectInvoice();
  const claim = { ...data, trx: 'X', status: 'success' };
  await verify(shown({ status: 'failed', metadata: claim, order: { claim } }));
  expect(await state()).toBe('failed');
});

it('two payments in one answer are a conflict; several words that cannot all be true are no receipt', async () => {
  await expectInvoice();
  await verify(reply({ success: true, status: '00', data: [data, { ...data, trx: 'COL2' }] }));
  expect(await state(), 'without a status they are no words').toBe('expected');
  clock.set(60 * minute);
  const paid = { ...data, status: 'success' };
  await verify(reply({ success: true, status: '00', data: [paid, { ...paid, trx: 'COL2' }] }));
  expect(await state()).toBe('conflict');
  expect((await story())?.lookups.at(-1)?.outcome).toMatch(/^contradicts itself: success 100.00 \(COL1\)/);
});

it('an unexpected collection is recorded, verified, and asked for no longer once it failed', async () => {
  await deliver({ status: 'failed' });
  expect(await state()).toBe('heard');
  await verify(shown({ status: 'failed' }));
  expect((await story())?.collection).toMatchObject({ state: 'failed', expected_at: null, ask_at: null });
});

it.each([
  ['100', '100.00'],
  ['100.5', '100.50'],
  ['100.505', '100.505'],
])('what verify shows as %s stands in the reports as %s', async (amount, received) => {
  await expectInvoice();
  await verify(shown({ amount }));
  const told: string[] = [];
  for await (const page of collectionsInOrder(ledger.db)) told.push(...page.map((line) => line.received));
  expect(told).toEqual([received]);
});
