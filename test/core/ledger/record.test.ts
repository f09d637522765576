import { afterEach, beforeEach, expect, it } from 'vitest';
import { record } from '../../../src/core/ledger/record.ts';
import { abandonClaims, type Claim } from '../../../src/sending/claims.sql.ts';
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

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

async function claimed(ms = 0): Promise<Claim> {
  const [one] = await claimAt(ledger, at(ms));
  if (!one) throw new Error('nothing was claimed');
  return one;
}
const attempts = () => ledger.db.selectFrom('attempts').selectAll().orderBy('id').execute();
const inquiries = () => ledger.db.selectFrom('inquiries').selectAll().orderBy('id').execute();

it('P1: an intent is a payout in `sending` with an attempt of its own', async () => {
  const [id] = await addBatch(ledger, ['R-1']);
  const { payoutId, attemptId } = await claimed();
  expect(payoutId).toBe(id);
  expect(await payoutById(ledger, payoutId)).toMatchObject({
    state: 'sending',
    attempt_count: 1n,
    last_attempt_id: attemptId,
    submitted_at: at(0),
  });
  expect(await attempts()).toMatchObject([{ number: 1n, worker_id: 'w-1', began_at: at(0), outcome: null }]);
});

it('P4: an outcome is written to its attempt and moves its payout', async () => {
  await addBatch(ledger, ['R-1']);
  const one = await claimed();
  await recordOutcome(ledger, at(50), one, replies.accepted('77'));
  expect(await attempts()).toMatchObject([{ outcome: 'accepted', transfer_id: '77', ended_at: at(50) }]);
  expect(await payoutById(ledger, one.payoutId)).toMatchObject({ state: 'pending', evidence: 'response' });
});

it('P4: an outcome of an attempt that nobody made changes nothing', async () => {
  await addBatch(ledger, ['R-1']);
  const one = await claimed();
  expect(await recordOutcome(ledger, at(1), { ...one, attemptId: 999n }, replies.refused())).toEqual([]);
  expect((await payoutById(ledger, one.payoutId)).state).toBe('sending');
});

it('P4: the outcome of one payout’s attempt says nothing about another payout', async () => {
  const [, second = 0n] = await addBatch(ledger, ['R-1', 'R-2']);
  const [one] = await claimAt(ledger, at(0), 2);
  if (!one) throw new Error('nothing was claimed');
  const event = { kind: 'outcome' as const, attemptId: one.attemptId, outcome: replies.refused() };
  await ledger.write((trx) => record(trx, at(1), [{ payoutId: second, source: 'response', event }]));
  expect((await payoutById(ledger, second)).state).toBe('sending');
});

it('P4: a second outcome of the same attempt is ignored', async () => {
  await addBatch(ledger, ['R-1']);
  const one = await claimed();
  await recordOutcome(ledger, at(1), one, replies.accepted());
  const before = await payoutById(ledger, one.payoutId);
  expect(await recordOutcome(ledger, at(2), one, replies.notSent())).toEqual([]);
  expect(await payoutById(ledger, one.payoutId)).toMatchObject({ ...before, updated_at: expect.anything() });
  expect(await attempts()).toMatchObject([{ outcome: 'accepted', ended_at: at(1) }]);
});

it('P4: a proof that an attempt was not taken is not taken back by a later word', async () => {
  await addBatch(ledger, ['R-1']);
  const one = await claimed();
  await recordOutcome(ledger, at(1), one, replies.notSent());
  await recordOutcome(ledger, at(2), one, replies.unknown());
  expect((await payoutById(ledger, one.payoutId)).state).toBe('ready');
});

it('P3, P4: the late answer of an abandoned attempt is recorded', async () => {
  await addBatch(ledger, ['R-1']);
  const one = await claimed();
  expect(await ledger.write((trx) => abandonClaims(trx, 'w-1', at(10)))).toBe(1);
  expect((await payoutById(ledger, one.payoutId)).state).toBe('unknown');
  expect(await attempts()).toMatchObject([{ outcome: 'unknown', code: 'abandoned' }]);
  await recordOutcome(ledger, at(20), one, replies.accepted('77'));
  expect(await payoutById(ledger, one.payoutId)).toMatchObject({ state: 'pending', transfer_id: '77' });
});

it('P4: refused while an earlier attempt may have been taken is unknown', async () => {
  await addBatch(ledger, ['R-1']);
  const first = await claimed();
  await recordOutcome(ledger, at(1), first, replies.unknown());
  // As `retry` does it: a person decides that the unknown payout goes out again.
  await ledger.db.updateTable('payouts').set({ state: 'ready' }).where('id', '=', first.payoutId).execute();
  const second = await claimed(2);
  expect(second.attemptId).not.toBe(first.attemptId);
  await recordOutcome(ledger, at(3), second, replies.refused());
  expect((await payoutById(ledger, first.payoutId)).state).toBe('unknown');
  await recordOutcome(ledger, at(4), first, replies.refused());
  expect((await payoutById(ledger, first.payoutId)).state).toBe('refused');
});

it('P4: a late refusal of an earlier attempt leaves the payout to the one that is under way', async () => {
  await addBatch(ledger, ['R-1']);
  const first = await claimed();
  await recordOutcome(ledger, at(1), first, replies.unknown());
  const event = { kind: 'retry' as const, to: 'ready' as const, automatic: false, why: 'ada' };
  const { payoutId } = first;
  await ledger.write((trx) => record(trx, at(2), [{ payoutId, source: 'ada', event }]));
  const second = await claimed(3);
  await recordOutcome(ledger, at(4), first, replies.refused());
  expect((await payoutById(ledger, payoutId)).state, 'unknown, a person might send it a third time').toBe(
    'sending',
  );
  await recordOutcome(ledger, at(5), second, replies.refused());
  expect((await payoutById(ledger, payoutId)).state).toBe('refused');
});

it('P17: an attempt that was proven not sent makes no second transfer of the one that failed', async () => {
  await addBatch(ledger, ['R-1']);
  await recordOutcome(ledger, at(1), await claimed(), replies.notSent());
  const second = await claimed(2);
  await recordOutcome(ledger, at(3), second, replies.accepted('77'));
  const witness = { source: 'details' as const, status: 'failed' as const, transferId: '77', trx: null };
  const event = {
    kind: 'witness' as const,
    witness: { ...witness, fee: null, message: null, settledAt: null },
  };
  const { payoutId } = second;
  await ledger.write((trx) => record(trx, at(4), [{ payoutId, source: 'details', event }]));
  expect((await payoutById(ledger, payoutId)).state).toBe('failed');
});

it('P8: turned away means ready again, and Retry-After is honoured', async () => {
  await addBatch(ledger, ['R-1']);
  const one = await claimed();
  await recordOutcome(ledger, at(100), one, replies.turnedAway(2000));
  expect(await payoutById(ledger, one.payoutId)).toMatchObject({
    state: 'ready',
    turned_away_until: at(2100),
  });
  expect(await inquiries(), 'whoever sends it asks').toEqual([]);
});

it('P19: an unknown outcome puts a look-up on the list a minute later', async () => {
  await addBatch(ledger, ['R-1']);
  await recordOutcome(ledger, at(100), await claimed(), replies.unknown());
  expect(await inquiries()).toMatchObject([{ kind: 'details', due_at: at(60_100), rung: 0n, outcome: null }]);
});

it('P14: a conflict leaves state, evidence and ids as they were, and stands in the history', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  const before = await payoutById(ledger, id);
  const witness = { source: 'details' as const, status: 'success' as const, transferId: '9', trx: 'T' };
  const event = {
    kind: 'witness' as const,
    witness: { ...witness, fee: '1', message: null, settledAt: null },
  };
  await ledger.write((trx) => record(trx, at(1), [{ payoutId: id, source: 'details', event }]));
  const { history_head, history_seq, updated_at, ...after } = await payoutById(ledger, id);
  expect(before).toMatchObject(after);
  const rows = await ledger.db.selectFrom('history').selectAll().where('payout_id', '=', id).execute();
  expect(rows.at(-1)).toMatchObject({ event: 'details says success', to_state: 'ready' });
  expect(rows.at(-1)?.detail).toContain('conflict');
  expect([history_seq, updated_at, history_head]).toEqual([2n, at(1), rows.at(-1)?.hash]);
});

it('raises the version of the batch, so that its results are due again', async () => {
  await addBatch(ledger, ['R-1']);
  const version = async () =>
    (await ledger.db.selectFrom('batches').select('version').executeTakeFirstOrThrow()).version;
  const before = await version();
  await claimed();
  expect(await version()).toBe(before + 1n);
});

it('an event for a payout that the ledger does not hold is a bug, and nothing of its group is written', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  const hold = { kind: 'hold' as const, why: 'a person' };
  const both = [id, 99n].map((payoutId) => ({ payoutId, source: 'person', event: hold }));
  await expect(ledger.write((trx) => record(trx, at(1), both))).rejects.toThrow('no payout 99');
  expect((await payoutById(ledger, id)).state).toBe('ready');
});

it('P4: an ignored outcome does not make the results of the batch due again', async () => {
  await addBatch(ledger, ['R-1']);
  const one = await claimed();
  await recordOutcome(ledger, at(1), one, replies.accepted());
  const before = await ledger.db.selectFrom('batches').select('version').execute();
  await recordOutcome(ledger, at(2), one, replies.notSent());
  expect(await ledger.db.selectFrom('batches').select('version').execute()).toEqual(before);
});
