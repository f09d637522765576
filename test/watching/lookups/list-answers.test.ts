import { expect, it } from 'vitest';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { here } from '../../sending/setting.ts';
import { payoutById } from '../../support/ledger.ts';
import { deliver, lookUpsOf } from './setting.ts';
import { counting, sentSince, statesOf, toldAbout } from './webhook-questions.ts';
import { client, clock, ledger, restartService, sandbox, withService } from './with-service.ts';

withService();

const budget = 500;

it('P14: one read of a page of the list settles many payouts that webhooks call paid', async () => {
  const ids = await toldAbout(120);
  const { service, details, pages } = counting();
  expect(await lookUpsOf(ledger, clock, service).askDue({ budget })).toBe(120);
  expect(new Set(await statesOf(ids))).toEqual(new Set(['success']));
  expect([pages, details]).toEqual([[1, 2, 3], []]);
  expect((await payoutById(ledger, ids[0] ?? 0n)).evidence).toBe('response+webhook+listing');
});

it('few questions are asked one by one', async () => {
  await toldAbout(4);
  const { service, details, pages } = counting();
  expect(await lookUpsOf(ledger, clock, service).askDue({ budget })).toBe(4);
  expect([pages, details.length]).toEqual([[], 4]);
});

it('payouts that others followed are found where the list has them now', async () => {
  await toldAbout(60);
  await sentSince(200);
  const { service, details, pages } = counting();
  expect(await lookUpsOf(ledger, clock, service).askDue({ budget })).toBe(60);
  expect([pages, details]).toEqual([[5, 6], []]);
});

it('a list in another order is read from its other end', async () => {
  await restartService({ listOrder: 'oldest' });
  await toldAbout(60);
  await sentSince(90);
  const { service, details, pages } = counting();
  expect(await lookUpsOf(ledger, clock, service).askDue({ budget })).toBe(60);
  expect([pages, details], 'the first guess shows the order').toEqual([[2, 1], []]);
});

it('where the newest page shows only transfers of others, questions are asked one by one', async () => {
  await toldAbout(60);
  for (let n = 0; n < 200; n++) sandbox.book.plant({ reference: `S-${n}` });
  const { service, details, pages } = counting();
  const lookUps = lookUpsOf(ledger, clock, service);
  expect(await lookUps.askDue({ budget })).toBe(60);
  expect([pages, details.length]).toEqual([[1], 60]);
});

it('P16: what a page lacks, or shows as pending, is looked up by itself', async () => {
  const ids = await toldAbout(20);
  const shown = sandbox.book.transfers();
  for (const { id } of shown.slice(0, 3)) sandbox.book.change(id, { status: 'pending' });
  const listPage = async (page: number) => {
    const answer = await client.listPage(page);
    if (answer.kind !== 'page') return answer;
    const items = answer.page.items.filter(({ reference }) => reference !== 'R-9');
    return { ...answer, page: { ...answer.page, items } };
  };
  const { service, details } = counting({ listPage });
  await lookUpsOf(ledger, clock, service).askDue({ budget });
  expect(details.toSorted()).toEqual(['R-1', 'R-2', 'R-3', 'R-9']);
  expect((await statesOf(ids)).filter((state) => state === 'success')).toHaveLength(17);
});

it('P17, P36: a page never makes a payout failed or returned', async () => {
  const ids = await toldAbout(20);
  const listPage = async (page: number) => {
    const answer = await client.listPage(page);
    if (answer.kind !== 'page') return answer;
    const items = answer.page.items.map((one) => ({ ...one, status: 'failed' }));
    return { ...answer, page: { ...answer.page, items } };
  };
  const { service, details } = counting({ listPage });
  await lookUpsOf(ledger, clock, service).askDue({ budget });
  expect(details).toHaveLength(20);
  expect(new Set(await statesOf(ids))).toEqual(new Set(['success']));
});

it.each([
  ['another amount', (one: object) => ({ ...one, amount: '1500.01' })],
  ['another account', (one: object) => ({ ...one, account_number: '0123456780' })],
  ['another transfer id', (one: object) => ({ ...one, id: '99' })],
  ['another mode', (one: object) => ({ ...one, domain: 'live' })],
])('P13, P15: a row with %s settles nothing', async (_what, alter) => {
  await toldAbout(10);
  const listPage = async (page: number) => {
    const answer = await client.listPage(page);
    if (answer.kind !== 'page') return answer;
    const items = answer.page.items.map((one) => ({ ...one, ...alter(one) }));
    return { ...answer, page: { ...answer.page, items } };
  };
  const { service, details } = counting({ listPage });
  await lookUpsOf(ledger, clock, service).askDue({ budget });
  expect(details).toHaveLength(10);
});

it('P17: two rows under one reference settle nothing', async () => {
  await toldAbout(10);
  const [first] = sandbox.book.transfers();
  if (!first) throw new Error('nothing was booked');
  sandbox.book.plant({ ...first, status: 'success' });
  const { service, details } = counting();
  await lookUpsOf(ledger, clock, service).askDue({ budget });
  expect(details).toEqual(['R-1']);
});

it('P18: a payout of which a webhook says failed is asked about by itself', async () => {
  const ids = await toldAbout(10);
  await deliver(ledger, { reference: 'R-4', trx: null, statusMessage: 'failed' });
  await applyWebhooks({ ledger, clock });
  const { service, details } = counting();
  await lookUpsOf(ledger, clock, service).askDue({ budget });
  expect(details).toEqual(['R-4']);
  expect(new Set(await statesOf(ids))).toEqual(new Set(['success']));
});

it('P18: a webhook that says failed while the page is on its way keeps the page from settling it', async () => {
  await toldAbout(10);
  const listPage = async (page: number) => {
    const answer = await client.listPage(page);
    await deliver(ledger, { reference: 'R-4', trx: null, statusMessage: 'failed' });
    await applyWebhooks({ ledger, clock });
    return answer;
  };
  const { service, details } = counting({ listPage });
  await lookUpsOf(ledger, clock, service).askDue({ budget });
  expect(details).toEqual(['R-4']);
});

it('P17: a payout that was sent twice is asked about by itself', async () => {
  const [first = 0n] = await toldAbout(10);
  await ledger.db.updateTable('payouts').set({ attempt_count: 2n }).where('id', '=', first).execute();
  const { service, details } = counting();
  await lookUpsOf(ledger, clock, service).askDue({ budget });
  expect(details).toEqual(['R-1']);
});

it('pages in vain are not read again at once', async () => {
  await toldAbout(40);
  const listPage = async () =>
    ({ kind: 'trouble', reason: 'timeout', message: '', httpStatus: null, retryAfterMs: null }) as const;
  const { service, pages } = counting({ listPage });
  const lookUps = lookUpsOf(ledger, clock, service);
  await lookUps.askDue({ budget: 20 });
  await lookUps.askDue({ budget: 20 });
  expect(pages).toEqual([1]);
});

it('P31: a payout that was sent with another key is asked about by itself', async () => {
  await toldAbout(10);
  const other = { base_url: 'http://127.0.0.2', secret_key: 'b', order_key: 'b' };
  const { id } = await ledger.db
    .insertInto('origins')
    .values(other)
    .returning('id')
    .executeTakeFirstOrThrow();
  await ledger.db.updateTable('attempts').set({ origin_id: id }).where('payout_id', '=', 3n).execute();
  const { service, details } = counting();
  await lookUpsOf(ledger, clock, service, { standpoint: here }).askDue({ budget });
  expect(details).toEqual(['R-3']);
});
