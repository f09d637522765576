import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTold, hour, shown } from '../../sending/decisions/told.ts';
import { at, makeLedger, payoutById, replies, type TestLedger } from '../../support/ledger.ts';
import { listedTransfer, type Night, nightOf } from './setting.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const told = createTold(() => ledger);

type Seen = { listed: string; details: string | null };

/** A run in which list and details show this of F; `other`: what else is special about it. */
async function night(id: bigint, ms: number, seen: Seen, other: Partial<Night> = {}) {
  const { listed, details } = seen;
  const status = details === 'failed' || details === 'success' ? details : 'no_answer';
  return nightOf(ledger, {
    at: ms,
    full: true,
    rows: [listedTransfer('F', { id: 'T-1', status: listed, created_at: '2026-11-21T10:00:00.050Z' })],
    details: status,
    asking: async () => {
      if (details !== null) await told.looked(id, ms, shown(details));
    },
    ...other,
  });
}

const failed = { listed: 'failed', details: 'failed' };
const success = { listed: 'success', details: 'success' };

async function paid(): Promise<bigint> {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, 2000, shown('success'));
  await night(id, hour, success);
  return id;
}

const stateOf = async (id: bigint) => (await payoutById(ledger, id)).state;

it('P36: a paid payout that list and details show as failed in two runs six hours apart is returned', async () => {
  const id = await paid();
  await told.heard(2 * hour, 'failed');
  await told.looked(id, 2 * hour + 1, shown('failed'));
  expect((await night(id, 10 * hour, failed)).kinds, 'one fact is one discrepancy').toEqual([
    'status_conflict F',
  ]);
  expect((await night(id, 15 * hour, failed)).kinds, 'too soon').toEqual(['status_conflict F']);
  expect(await stateOf(id)).toBe('success');
  expect((await night(id, 16 * hour, failed)).kinds).toEqual(['returned_after_success F']);
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'returned', evidence: 'listing+details' });
  expect((await night(id, 30 * hour, failed)).kinds, 'and stays so').toEqual(['returned_after_success F']);
  await told.looked(id, 31 * hour, shown('failed'));
  expect(await told.judged(id, 31 * hour + 1)).toEqual({ kind: 'successor' });
});

it('P36: a webhook alone returns nothing, and neither do the list or the details alone', async () => {
  const id = await paid();
  await told.heard(2 * hour, 'failed');
  for (const ms of [10 * hour, 20 * hour]) await night(id, ms, { listed: 'failed', details: 'success' });
  for (const ms of [30 * hour, 40 * hour]) await night(id, ms, { listed: 'failed', details: null });
  for (const ms of [50 * hour, 60 * hour]) await night(id, ms, { listed: 'success', details: 'failed' });
  expect(await stateOf(id)).toBe('success');
});

it('P36: shown as paid between two runs, the wait begins again', async () => {
  const id = await paid();
  await night(id, 10 * hour, failed);
  await night(id, 17 * hour, success);
  expect((await night(id, 24 * hour, failed)).kinds).toEqual(['status_conflict F']);
  expect(await stateOf(id)).toBe('success');
  await night(id, 30 * hour, failed);
  expect(await stateOf(id)).toBe('returned');
});

it('P36: a short cut is no complete list', async () => {
  const id = await paid();
  const listing = {
    complete: 'window' as const,
    window: { edge: '2026-11-21T09:00:00.000Z', base: '20261121T110000Z' },
  };
  for (const ms of [10 * hour, 20 * hour, 30 * hour]) await night(id, ms, failed, { listing });
  expect(await stateOf(id)).toBe('success');
});

it('P36: a clock that steps forward between two runs returns nothing, and one that steps back holds nothing up', async () => {
  const id = await paid();
  await night(id, 10 * hour, failed);
  const minuteLater = '2026-11-21T20:01:00.000Z';
  await night(id, 40 * hour, failed, { listing: { cut: minuteLater } });
  expect(await stateOf(id), 'by the service it is a minute later').toBe('success');
  await night(id, 9 * hour, failed);
  expect((await payoutById(ledger, id)).turned_run, 'both clocks begin again').toBe('20261121T190000Z');
  await night(id, 15 * hour, failed);
  expect(await stateOf(id)).toBe('returned');
});

it('P36: asked elsewhere than where it was sent, nothing comes back', async () => {
  const id = await paid();
  const { here } = await import('../../sending/setting.ts');
  const own = { ...here.account.own, secretKey: 'another' };
  const standpoint = {
    originId: 7n,
    account: { ...here.account, own, secretKeys: ['another'], orderKeys: ['another'] },
  };
  await ledger.write((trx) =>
    trx
      .insertInto('origins')
      .values({ id: 1n, base_url: 'http://first', secret_key: 'first', order_key: 'first' })
      .execute(),
  );
  await ledger.db.updateTable('attempts').set({ origin_id: 1n }).execute();
  for (const ms of [10 * hour, 20 * hour]) await night(id, ms, failed, { standpoint });
  expect(await stateOf(id)).toBe('success');
});

it('P36: of two sends that may have been taken, one that failed returns nothing', async () => {
  const id = await paid();
  await ledger.db.updateTable('payouts').set({ unseen_sends: 1n }).execute();
  for (const ms of [10 * hour, 20 * hour]) await night(id, ms, failed);
  expect(await stateOf(id)).toBe('success');
});

it('P36: a return that list and details show as paid again is a conflict', async () => {
  const id = await paid();
  for (const ms of [10 * hour, 20 * hour]) await night(id, ms, failed);
  expect(await stateOf(id)).toBe('returned');
  const again = await night(id, 30 * hour, success);
  expect(again.kinds).toContain('status_conflict F');
  expect(await stateOf(id)).toBe('returned');
  expect(await told.judged(id, 30 * hour + 1), 'nothing is paid again').toMatchObject({ kind: 'no' });
  expect((await night(id, 40 * hour, failed)).kinds, 'failed again').toEqual(['returned_after_success F']);
});

it('P36: a returned payout that was paid again and is shown as paid once more was paid twice', async () => {
  const id = await paid();
  for (const ms of [10 * hour, 20 * hour]) await night(id, ms, failed);
  await told.looked(id, 21 * hour, shown('failed'));
  expect((await told.orderAgain(id, 21 * hour)).kind).toBe('decided');
  expect(await told.claimed(21 * hour + 10)).toHaveLength(1);
  for (const ms of [30 * hour, 40 * hour]) {
    const { kinds } = await night(id, ms, success);
    expect(kinds, 'in every run').toContain('paid_twice F');
  }
});

it('P14: a list and details that were asked for before a return may show the success before it', async () => {
  const id = await paid();
  const meanwhile = async () => void (await told.looked(id, 5 * hour, shown('returned')));
  const { kinds } = await night(id, 5 * hour, { listed: 'success', details: null }, { meanwhile });
  expect(kinds).toEqual(['returned_after_success F']);
});

it('says "paid, then returned" where webhooks said paid and then failed (a conflict, high for 28 days: trust the list)', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.heard(1000, 'success');
  await told.looked(id, 2000, shown('failed'));
  await told.heard(3000, 'failed', { note: 'returned by the bank' });
  await told.looked(id, 4000, shown('failed'));
  const { open, kinds } = await night(id, hour, failed);
  expect(kinds, 'one fact is one line').toEqual(['returned_after_success F']);
  expect(open[0]).toMatchObject({
    actual: 'paid, then returned',
    severity: 'medium',
    action: expect.stringContaining('The money came back'),
  });
  expect(await stateOf(id)).toBe('failed');
});

it('failed.csv does not offer a payout whose evidence conflicts', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.heard(1000, 'success');
  await told.looked(id, 2000, shown('failed'));
  const offered = async (ms: number) => (await told.decisionsAt(ms).rows.offer(ledger.db, [id])).length;
  expect(await offered(3000)).toBe(1);
  expect((await night(id, hour, failed)).kinds).toEqual(['webhook_conflict F']);
  expect(await offered(hour + 1000)).toBe(0);
  await told.heard(2 * hour, 'failed', { note: 'returned by the bank' });
  await told.looked(id, 2 * hour + 1, shown('failed'));
  expect((await night(id, 3 * hour, failed)).kinds).toEqual(['returned_after_success F']);
  expect(await offered(3 * hour + 1000), 'paid, then returned: it may be paid again').toBe(1);
});

async function settleAsPaid(id: bigint, ms: number): Promise<void> {
  const decisions = told.decisionsAt(ms);
  const { digest } = await decisions.weigh([id], at(ms));
  const order = { ids: [id], since: at(ms), digest, person: 'ada', note: 'their letter' };
  expect(await decisions.settle({ ...order, as: 'success' })).toMatchObject({ kind: 'decided' });
}

it('P36: what a person settled as paid again, after the service had shown it as paid, one later list does not fail', async () => {
  const id = await paid();
  await night(id, 10 * hour, failed);
  await settleAsPaid(id, 11 * hour);
  expect(await payoutById(ledger, id)).toMatchObject({
    state: 'success',
    evidence: 'response+listing+details+person',
  });
  expect((await night(id, 12 * hour, { listed: 'failed', details: null })).kinds, 'reported').toEqual([
    'status_conflict F',
  ]);
  expect(await stateOf(id)).toBe('success');
  await told.looked(id, 13 * hour, shown('failed'));
  expect(await stateOf(id), 'nor do the details alone').toBe('success');
  await night(id, 20 * hour, failed);
  expect(await stateOf(id), 'the wait begins with the decision').toBe('success');
  expect((await night(id, 27 * hour, failed)).kinds).toEqual(['returned_after_success F']);
  expect(await stateOf(id)).toBe('returned');
});

it('P36: what came back and a person settled as paid, one later list does not fail', async () => {
  const id = await paid();
  for (const ms of [10 * hour, 20 * hour]) await night(id, ms, failed);
  expect(await stateOf(id)).toBe('returned');
  await night(id, 30 * hour, success);
  await settleAsPaid(id, 31 * hour);
  expect(await stateOf(id)).toBe('success');
  expect((await night(id, 32 * hour, { listed: 'failed', details: null })).kinds, 'told').toContain(
    'status_conflict F',
  );
  expect(await stateOf(id)).toBe('success');
  await told.looked(id, 33 * hour, shown('failed'));
  expect(await stateOf(id), 'nor do the details alone').toBe('success');
  expect(await told.judged(id, 33 * hour + 1), 'nothing is paid again').toMatchObject({ kind: 'no' });
  await night(id, 40 * hour, failed);
  expect(await stateOf(id), 'the wait begins with the decision').toBe('success');
  expect((await night(id, 47 * hour, failed)).kinds).toContain('returned_after_success F');
});
