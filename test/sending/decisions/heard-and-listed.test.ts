import { afterEach, beforeEach, expect, it } from 'vitest';
import { listedTransfer, nightOf } from '../../books/discrepancies/setting.ts';
import { at, makeLedger, payoutById, replies, type TestLedger } from '../../support/ledger.ts';
import { createTold, hour, shown } from './told.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const told = createTold(() => ledger);
const listed = (id: string, status: string) =>
  listedTransfer('F', { id, status, created_at: at(50), updated_at: at(60) });
const byWebhook = { kind: 'no', why: expect.stringContaining('a webhook received') };

it('P18: an unknown is not sent again while a webhook contradicts it that no look-up has settled', async () => {
  const id = await told.sent(replies.unknown());
  await told.heard(hour, 'success', { amount: '1490.00' });
  await told.unanswered(id, 2 * hour);
  expect(await told.judged(id, 3 * hour)).toMatchObject(byWebhook);
  await told.lookedInVain(id, 4 * hour);
  expect(await told.judged(id, 5 * hour)).toEqual({ kind: 'again' });
});

it.each(['unknown', 'refused'] as const)(
  'P18: what is %s waits for an answer after a webhook with a stale timestamp, which nobody has signed',
  async (state) => {
    const id = await told.sent(replies[state]());
    await told.heard(hour, 'success', {}, true);
    await told.unanswered(id, 2 * hour);
    expect(await told.judged(id, 3 * hour)).toMatchObject(byWebhook);
    await told.lookedInVain(id, 4 * hour);
    expect(await told.judged(id, 5 * hour)).toEqual({ kind: state === 'refused' ? 'successor' : 'again' });
  },
);

it('P18: a webhook that came after the clock was set back is newer than the look-up before it', async () => {
  const id = await told.sent(replies.refused());
  await told.lookedInVain(id, 2 * hour);
  await told.heard(hour, 'success');
  expect(await told.judged(id, 1.5 * hour)).toMatchObject(byWebhook);
  await told.lookedInVain(id, 1.6 * hour);
  expect(await told.judged(id, 1.7 * hour)).toEqual({ kind: 'successor' });
});

it('P14: what the details said after the clock was set back is newer than the look-up before it', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  // Two processes ask one question: the second answer comes when the first has closed it, and the clock is behind.
  const late = Promise.withResolvers<void>();
  const slow = told.lookedLate(id, hour, late.promise, shown('success'));
  await told.looked(id, 2 * hour, shown('failed'));
  late.resolve();
  await slow;
  expect(await told.judged(id, 2 * hour + 5)).toMatchObject({
    kind: 'no',
    why: expect.stringContaining('details says success'),
  });
});

it('P18: a webhook that came after the clock was set back is newer than the whole list before it', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, 1000, shown('failed'));
  await nightOf(ledger, { at: 2 * hour, rows: [listed('T-1', 'failed')], full: true });
  await told.heard(hour, 'success');
  expect(await told.judged(id, 1.5 * hour)).toMatchObject(byWebhook);
});

it('P20: what failed is not paid again while a whole list begun since shows another transfer of it on its way', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, 1000, shown('failed'));
  const rows = [listed('T-1', 'failed'), listed('T-2', 'pending')];
  await nightOf(ledger, { at: hour, rows, full: true, details: 'failed' });
  await told.looked(id, 2 * hour, shown('failed'));
  expect((await payoutById(ledger, id)).state).toBe('failed');
  expect(await told.judged(id, 2 * hour + 5)).toMatchObject({
    kind: 'no',
    why: expect.stringMatching(/shows a transfer of it as pending/),
  });
  expect(await told.decisionsAt(2 * hour + 5).rows.offer(ledger.db, [id])).toEqual([]);
});

it('P14: what the details showed on its way again stays so while look-ups get no answer, whatever an older list says', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, 1000, shown('failed'));
  await nightOf(ledger, { at: hour, rows: [listed('T-1', 'failed')], full: true });
  await told.looked(id, 2 * hour, shown('pending'));
  await told.unanswered(id, 3 * hour);
  expect(await told.judged(id, 3 * hour + 5)).toMatchObject({
    kind: 'no',
    why: expect.stringMatching(/on its way again since it failed/),
  });
  await told.looked(id, 4 * hour, shown('failed'));
  expect(await told.judged(id, 4 * hour + 5)).toEqual({ kind: 'successor' });
});

it('P17: what came back is not paid again while the list shows a second transfer of it as paid', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, 1000, shown('success'));
  await told.looked(id, 2000, shown('returned'));
  expect(await told.judged(id, 0.5 * hour)).toEqual({ kind: 'successor' });
  const rows = [listed('T-1', 'returned'), listed('T-2', 'success')];
  await nightOf(ledger, { at: hour, rows, full: true, details: 'returned' });
  expect(await told.judged(id, 2 * hour)).toMatchObject({
    kind: 'no',
    why: expect.stringMatching(/shows a transfer of it as success/),
  });
});

it('P17: what details show as failed beside another that stands is not believed to have failed', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, 1000, shown('failed'), shown('success', { id: 'T-2' }));
  expect((await payoutById(ledger, id)).state).toBe('pending');
  await told.looked(id, 2000, shown('failed'), shown('failed', { id: 'T-2' }));
  expect((await payoutById(ledger, id)).state).toBe('failed');
});

it('P32: a webhook that agrees with a payment is nothing that a person may settle it for', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.heard(1000, 'success');
  await told.looked(id, 2000, shown('success'));
  const { cases } = await told.decisionsAt(hour).weigh([id], at(hour));
  expect(cases[0]).toMatchObject({ payout: { state: 'success' }, remedies: [] });
});
