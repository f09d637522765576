import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countOpen } from '../../../src/books/discrepancies/discrepancies.sql.ts';
import { barrierKeys, raiseBarrier } from '../../../src/core/ledger/barriers.ts';
import { batchCounts } from '../../../src/core/ledger/batches.ts';
import { decisionQuestion, refusals } from '../../../src/faces/terminal/decisions/decided.ts';
import { remedyText } from '../../../src/faces/terminal/kit/remedy-text.ts';
import { releaseBatch } from '../../../src/sending/holds.sql.ts';
import { messageText } from '../../../src/words/plain-words.ts';
import { listedTransfer, nightOf } from '../../books/discrepancies/setting.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';
import { createTold, hour, shown } from './told.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const told = createTold(() => ledger);
const listed = (status: string, other: object = {}) =>
  listedTransfer('F', { id: 'T-1', status, created_at: at(50), updated_at: at(2 * hour), ...other });

async function settle(id: bigint, ms: number, as: 'success' | 'failed', note = 'the bank said so') {
  const decisions = told.decisionsAt(ms);
  const { digest } = await decisions.weigh([id], at(ms - 1));
  return decisions.settle({ ids: [id], since: at(ms - 1), digest, person: 'ada', as, note });
}

const open = () => countOpen(ledger.db);

/** What `retry` says of it, its look-up being begun an hour before. */
async function refused(id: bigint, ms: number): Promise<string> {
  const weighed = await told.decisionsAt(ms).weigh([id], at(ms - hour));
  return refusals(weighed)[0]?.why ?? '';
}

describe('P32: pending, and the service lost it', () => {
  const lose = async (ms: number) => nightOf(ledger, { at: ms, rows: [listedTransfer('G')], full: true });
  /** Another payout that the list does show: it is this account's. */
  beforeEach(async () => {
    await addBatch(ledger, ['G'], { id: 'b-2' });
    const [claimed] = await claimAt(ledger, at(0));
    if (claimed) await recordOutcome(ledger, at(1), claimed, replies.accepted('T-G'));
  });

  it('is refused by retry with what speaks against it and the command that ends it', async () => {
    const id = await told.sent(replies.accepted('T-1'));
    expect((await lose(2 * hour)).kinds).toEqual(['missing_at_service F']);
    const why = await refused(id, 3 * hour);
    expect(why).toMatch(/discrepancy D-\w+ is open: its list lacks it/);
    expect(why).toContain('counterfoil settle F --as paid|not-paid --note');
    expect(why, 'against its own evidence').not.toContain('the service has it');
  });

  it('is closed by a person, keeps nothing open in later runs, and evidence opens all of it again', async () => {
    const id = await told.sent(replies.accepted('T-1'));
    await lose(2 * hour);
    expect(await settle(id, 3 * hour, 'failed')).toMatchObject({ decided: [{ state: 'failed' }] });
    expect(await payoutById(ledger, id)).toMatchObject({ evidence: 'person', message: 'the bank said so' });
    expect(await open()).toEqual({});
    expect((await lose(30 * hour)).kinds, 'not found again').toEqual([]);
    expect(await refused(id, 31 * hour), 'no licence to pay again').toContain('only a person has said');
    expect(await told.orderAgain(id, 32 * hour)).toMatchObject({ decided: [] });
    await told.looked(id, 33 * hour, shown('pending'));
    expect(await payoutById(ledger, id)).toMatchObject({ state: 'pending', evidence: 'details' });
    const { kinds } = await lose(34 * hour);
    expect(kinds, 'also that the decision does not stand').toEqual([
      'missing_at_service F',
      'status_conflict F',
    ]);
    const rows = await ledger.db.selectFrom('discrepancies').selectAll().execute();
    expect(rows.find(({ kind }) => kind === 'missing_at_service')).toMatchObject({
      reopened: 1n,
      note: expect.stringMatching(/^evidence reopened its payout/),
    });
  });

  it('is not called missing or unheard of after it was closed before any run saw it', async () => {
    const id = await told.sent(replies.accepted('T-1'));
    await settle(id, hour, 'success');
    const night = { rows: [listedTransfer('G')], full: true, receives: true };
    await nightOf(ledger, { at: 30 * hour, ...night });
    expect((await nightOf(ledger, { at: 40 * hour, ...night })).kinds).toEqual(['webhook_missing G']);
  });
});

describe('P32: never sent, and paid by hand under the same reference', () => {
  it('is held with a way out, closed as paid, never claimed, and confirmed by the list', async () => {
    const [id = 0n] = await addBatch(ledger, ['F']);
    await told.looked(id, 1000, shown('success'));
    expect(await told.claimed(2000)).toEqual([]);
    expect(messageText(await payoutById(ledger, id))).toContain('counterfoil settle F');
    expect((await nightOf(ledger, { at: hour, rows: [listed('success')] })).kinds).toEqual([
      'reference_collision F',
    ]);
    expect(await settle(id, 2 * hour, 'success', 'paid by hand')).toMatchObject({ kind: 'decided' });
    expect(await open()).toEqual({});
    const later = await nightOf(ledger, { at: 3 * hour, rows: [listed('success')], details: 'success' });
    expect(later.kinds).toEqual([]);
    expect(await payoutById(ledger, id)).toMatchObject({ state: 'success', evidence: 'listing+person' });
    await releaseBatch(ledger, { batch: 'b-1', at: at(4 * hour) });
    expect(await told.claimed(5 * hour)).toEqual([]);
  });

  it('waits without a hold, and settled it is never sent', async () => {
    const [id = 0n] = await addBatch(ledger, ['F']);
    expect(await settle(id, 1000, 'failed')).toMatchObject({ decided: [{ state: 'failed' }] });
    expect(await told.claimed(2000)).toEqual([]);
    expect(await told.orderAgain(id, hour), 'no licence to pay again').toMatchObject({ decided: [] });
  });
});

it('P32: a retry that waits while the service confirms the first in writing is closed, and never goes out', async () => {
  const id = await told.sent(replies.unknown());
  expect(await told.orderAgain(id, hour)).toMatchObject({ decided: [{ state: 'ready' }] });
  const { cases } = await told.decisionsAt(2 * hour).weigh([id], at(2 * hour));
  const help = cases.map(remedyText).join();
  expect(help, 'what retry refuses with').toContain('counterfoil settle F');
  expect(help).toContain('counterfoil cancel F takes back that it is sent again');
  expect(await settle(id, 3 * hour, 'success', 'letter')).toMatchObject({ decided: [{ state: 'success' }] });
  expect(await told.claimed(4 * hour)).toEqual([]);
  await told.looked(id, 5 * hour, shown('failed'));
  expect((await payoutById(ledger, id)).state, 'later evidence').toBe('failed');
});

it('P32: each decision keeps its note, also one in the same words as the one before', async () => {
  const id = await told.sent(replies.unknown());
  await settle(id, hour, 'success', 'bank letter');
  await settle(id, 2 * hour, 'failed', 'bank letter');
  const { cases } = await told.decisionsAt(3 * hour).weigh([id], at(3 * hour));
  expect(cases[0]?.notPaid).toMatchObject({ source: 'person:ada', note: 'bank letter' });
});

it('P32: a payout that was turned away and waits for its time is closed for good', async () => {
  const id = await told.sent(replies.turnedAway(3_600_000));
  expect(await payoutById(ledger, id)).toMatchObject({
    state: 'ready',
    turned_away_until: expect.any(String),
  });
  await settle(id, 1000, 'failed');
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'failed', turned_away_until: null });
  expect(await told.claimed(2 * hour)).toEqual([]);
  const asked = ledger.db.selectFrom('inquiries').select('id').where('outcome', 'is', null);
  expect(await asked.execute()).toEqual([]);
});

describe('P33: an accepted payout whose transfers bear an earlier time', () => {
  it.each([
    ['ten minutes before, by a clock of ours that was ahead', at(-600_000)],
    ['UTC without a zone', at(50).replace('Z', '')],
  ])('%s: becomes what the service says, and is paid again', async (_, created_at) => {
    const id = await told.sent(replies.accepted('T-1'));
    await told.looked(id, hour, shown('failed', { created_at }));
    expect((await payoutById(ledger, id)).state).toBe('failed');
    const rows = [listed('failed', { created_at: at(-600_000) })];
    const night = await nightOf(ledger, { at: 2 * hour, rows, details: 'failed' });
    expect(night.kinds, 'no reference_collision').toEqual([]);
    await told.looked(id, 3 * hour, shown('failed', { created_at }));
    const offers = await told.decisionsAt(3 * hour).rows.offer(ledger.db, [id]);
    expect(offers, 'for failed.csv').toMatchObject([{ reference: 'F-R2' }]);
    expect(await told.orderAgain(id, 3 * hour)).toMatchObject({ decided: [{ predecessor: 'F' }] });
  });

  it('an acceptance that nobody heard leaves it a collision, which a person ends', async () => {
    const id = await told.sent(replies.unknown());
    await told.looked(id, hour, shown('failed', { created_at: at(-600_000) }));
    const night = await nightOf(ledger, { at: 2 * hour, listing: { complete: false } });
    expect(night.kinds).toEqual(['reference_collision F', 'unknown_outcome F']);
    await settle(id, 3 * hour, 'success');
    const later = await nightOf(ledger, { at: 4 * hour, listing: { complete: false } });
    expect(later.kinds).toEqual([]);
  });
});

it('P33: what an accepted payout contradicts is no reference_collision, whatever it is', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, hour, shown('failed', { amount: '15.00', created_at: at(-600_000) }));
  const night = await nightOf(ledger, { at: 2 * hour, listing: { complete: false } });
  expect(night.kinds).toEqual(['amount_conflict F']);
});

it('P32: closing the first of two leaves its successor waiting until the service has said that it was not paid', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, hour, shown('failed'));
  await told.orderAgain(id, hour);
  await told.looked(id, 2 * hour, shown('success'));
  await settle(id, 3 * hour, 'failed');
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'failed', evidence: 'person' });
  await told.lookedInVain(id, 4 * hour);
  expect(await told.claimed(5 * hour)).toEqual([]);
  await told.looked(id, 6 * hour, shown('failed'));
  await releaseBatch(ledger, { batch: 'b-1', at: at(7 * hour) });
  expect(await told.claimed(8 * hour)).toEqual(['F-R2']);
});

it('P25: what a person closes in a ledger that went back counts the send that a lost copy may have made', async () => {
  const id = await told.sent(replies.unknown());
  const barrier = { why: 'restored', advice: null, at: at(200) };
  await ledger.write((trx) => raiseBarrier(trx, barrierKeys.behind, barrier));
  await settle(id, hour, 'success');
  expect((await payoutById(ledger, id)).unseen_sends).toBe(1n);
});

it('P19: a pending payout that its details contradict is asked about again', async () => {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, hour, shown('failed', { amount: '15.00' }));
  const due = ledger.db.selectFrom('inquiries').select(['reason', 'due_at']).where('outcome', 'is', null);
  expect(await due.execute()).toEqual([{ reason: 'unsettled', due_at: at(hour + 240_000) }]);
});

it('P20: a batch whose payouts got successors keeps the totals of its file', async () => {
  const ids = await addBatch(ledger, ['F', 'G']);
  const [first = 0n] = ids;
  await told.claimed(0);
  const decided = told.decisionsAt(hour);
  const attempts = await ledger.db.selectFrom('attempts').selectAll().execute();
  for (const one of attempts)
    await recordOutcome(ledger, at(100), { payoutId: one.payout_id, attemptId: one.id }, replies.refused());
  const weighed = await decided.weigh([first], at(hour));
  expect(decisionQuestion(weighed, false)).toContain('1 of 1');
  await told.orderAgain(first, hour);
  const [batch] = await batchCounts(ledger.db);
  expect(batch).toMatchObject({
    totals: { NGN: '3000.00' },
    counts: { refused: 1, waits_again: 1, ready: 1 },
  });
  expect(batch?.totalsByState).toEqual({
    NGN: { refused: '1500.00', waits_again: '1500.00', ready: '1500.00' },
  });
});
