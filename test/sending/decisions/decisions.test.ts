import { afterEach, beforeEach, expect, it } from 'vitest';
import { record } from '../../../src/core/ledger/record.ts';
import { verifyLedger } from '../../../src/custody/verify-ledger.ts';
import { subjectsOf } from '../../../src/sending/clearance-answers.sql.ts';
import { holdBatch, releaseBatch } from '../../../src/sending/holds.sql.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  replies,
  states,
  type TestLedger,
} from '../../support/ledger.ts';
import { createSetting } from './setting.ts';

let ledger: TestLedger;

beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const { decisionsOf, send, retryNow } = createSetting(() => ledger);

it('P20: a decision on evidence that changed since changes nothing and shows the new evidence', async () => {
  const ids = await addBatch(ledger, ['R-1', 'R-2']);
  await send(replies.refused(), replies.unknown());
  const decisions = decisionsOf();
  const shown = await decisions.weigh(ids, at(1000));
  expect((await decisions.weigh([...ids].toReversed(), at(2000))).digest).toBe(shown.digest);
  const event = { kind: 'looked_up' as const, found: false };
  const [, second = 0n] = ids;
  await ledger.write((trx) => record(trx, at(100), [{ payoutId: second, source: 'details', event }]));
  expect((await decisions.weigh(ids, at(2000))).digest).toBe(shown.digest);
  const witness = { status: 'pending' as const, source: 'details' as const };
  const rest = { transferId: '9', trx: null, fee: null, message: null, settledAt: null };
  await ledger.write((trx) =>
    record(trx, at(200), [
      { payoutId: second, source: 'details', event: { kind: 'witness', witness: { ...witness, ...rest } } },
    ]),
  );
  const told = await decisions.retry({ ids, since: at(1000), digest: shown.digest, person: 'ada' });
  expect(told).toMatchObject({ kind: 'changed' });
  expect(await states(ledger)).toEqual({ 'R-1': 'refused', 'R-2': 'pending' });
});

it('P20: a successor has the row and the money of its predecessor, a body of its own and a history that says why', async () => {
  const cells = '["5","R-1","x"]';
  const [id = 0n] = await addBatch(ledger, ['R-1'], { cells });
  await ledger.db.updateTable('batches').set({ columns: '["amount","Reference","note"]' }).execute();
  await send(replies.refused());
  const told = await retryNow([id]);
  expect(told).toMatchObject({ decided: [{ reference: 'R-1-R2', predecessor: 'R-1', state: 'ready' }] });
  const before = await payoutById(ledger, id);
  const after = await payoutById(ledger, told.kind === 'decided' ? (told.decided[0]?.id ?? 0n) : 0n);
  for (const key of ['row_number', 'batch_id', 'amount', 'currency', 'account_number', 'narration'] as const)
    expect(after[key]).toEqual(before[key]);
  expect(after).toMatchObject({ successor_of: id, attempt_count: 0n, submitted_at: null, history_seq: 1n });
  expect(after.body).toBe(before.body.replace('"R-1"', '"R-1-R2"'));
  expect(after.cells).toBe('["5","R-1-R2","x"]');
  const entries = await ledger.db.selectFrom('history').selectAll().orderBy('id').execute();
  const told2 = entries.slice(-2).map(({ event, source, detail }) => [event, source, detail]);
  expect(told2).toEqual([
    [
      'intake',
      'intake',
      expect.stringMatching(/"successor_of":"R-1".*"decided_by":"person:ada".*evidence [0-9a-f]{12}/),
    ],
    ['succeeded', 'person:ada', expect.stringMatching(/ordered again as R-1-R2.*evidence [0-9a-f]{12}/)],
  ]);
});

it('P22: a successor passes over a reference that a file took, and two in one decision never meet', async () => {
  await addBatch(ledger, ['r-1-r2'], { id: 'other', state: 'cancelled' });
  const ids = await addBatch(ledger, ['R-1', 'R-2']);
  await send(replies.refused(), replies.refused());
  const told = await retryNow(ids);
  const made = told.kind === 'decided' ? told.decided.map(({ reference }) => reference) : [];
  expect(made).toEqual([expect.stringMatching(/^R-1-[0-9a-f]{6}-R2$/), 'R-2-R2']);
});

it('P20: a successor that was cancelled gets the next one, once, on evidence that says so', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await send(replies.refused());
  const decisions = decisionsOf();
  const { digest: before } = await decisions.weigh([id], at(1000));
  await retryNow([id]);
  const [second = 0n] = (await decisions.find(['R-1-R2'])).payouts.map((one) => one.id);
  expect(await decisions.findInBatch('b-1', 'refused', 5)).toEqual({ ids: [], count: 0 });
  await decisions.cancel({ batch: 'b-1', payout: second, person: 'ada' });
  expect(await decisions.findInBatch('b-1', 'refused', 5)).toEqual({ ids: [id], count: 1 });
  // Who saw it before the other person cancelled its successor looks again.
  const stale = { ids: [id], since: at(1000), digest: before, person: 'bob' };
  expect(await decisions.retry(stale)).toMatchObject({ kind: 'changed' });
  expect(await retryNow([id])).toMatchObject({ decided: [{ reference: 'R-1-R3', predecessor: 'R-1' }] });
  expect(await retryNow([id, second])).toMatchObject({ decided: [] });
  const { cases } = await decisions.weigh([id, second], at(1000));
  expect(cases.map(({ judgement, successor }) => [judgement.kind, successor])).toEqual([
    ['no', 'R-1-R3'],
    ['no', 'R-1-R3'],
  ]);
  const [third] = (await decisions.find(['R-1-R3'])).payouts;
  expect(third).toMatchObject({ successor_of: second });
  // P31: the service is asked about all that it pays again, and its yes to any of them keeps it back.
  expect(await subjectsOf(ledger.db, [third?.id ?? 0n])).toEqual(new Map([[third?.id, [second, id]]]));
  const checks = (await verifyLedger(ledger.path)).checks.filter(({ ok }) => !ok);
  expect(checks.filter(({ name }) => name === 'successors')).toEqual([]);
  // The last of the chain decides, also where that was cancelled too.
  await decisions.cancel({ batch: 'b-1', payout: third?.id ?? 0n, person: 'ada' });
  expect(await decisions.findInBatch('b-1', 'refused', 5)).toEqual({ ids: [id], count: 1 });
  expect(await retryNow([id])).toMatchObject({ decided: [{ reference: 'R-1-R4', predecessor: 'R-1' }] });
});

it('P20: a retry of an unknown or a refused payout in a held batch waits as held', async () => {
  const ids = await addBatch(ledger, ['R-1', 'R-2']);
  await send(replies.unknown(), replies.refused());
  await holdBatch(ledger, { batch: 'b-1', reason: { kind: 'person' }, at: at(100) });
  await retryNow(ids);
  expect(await states(ledger)).toEqual({ 'R-1': 'held', 'R-2': 'refused', 'R-2-R2': 'held' });
  expect(await claimAt(ledger, at(6000))).toEqual([]);
  await releaseBatch(ledger, { batch: 'b-1', at: at(200) });
  expect(await claimAt(ledger, at(6000), 5)).toHaveLength(2);
});

it('P20: a limit holds the successors of the batch and leaves an unknown that goes out again alone', async () => {
  const ids = await addBatch(ledger, ['R-1', 'R-2']);
  await send(replies.unknown(), replies.refused());
  await retryNow(ids, { payoutLimit: { NGN: '1499.99' } });
  expect(await states(ledger)).toEqual({ 'R-1': 'ready', 'R-2': 'refused', 'R-2-R2': 'held' });
});

it('P19: settle needs an unknown and unchanged evidence', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await send(replies.unknown());
  const decisions = decisionsOf();
  const { digest } = await decisions.weigh([id], at(1000));
  const order = { ids: [id], since: at(1000), digest, person: 'ada', as: 'success' as const, note: 'letter' };
  expect(await decisions.settle({ ...order, digest: 'x' })).toMatchObject({ kind: 'changed' });
  expect(await decisions.settle(order)).toMatchObject({ decided: [{ state: 'success' }] });
  expect(await payoutById(ledger, id)).toMatchObject({ evidence: 'person', message: 'letter' });
  expect(await decisions.settle(order)).toMatchObject({ kind: 'changed' });
});

it('P21: cancel goes through a batch in chunks, takes a retry back, and leaves what was sent', async () => {
  const ids = await addBatch(
    ledger,
    Array.from({ length: 2100 }, (_, i) => `R-${i + 1}`),
  );
  await send(replies.unknown(), replies.accepted());
  await retryNow(ids.slice(0, 1));
  const told = await decisionsOf().cancel({ batch: 'b-1', person: 'ada' });
  expect(told).toMatchObject({ cancelled: 2098, withdrawn: 1, listed: 0 });
  const counts = Object.groupBy(Object.values(await states(ledger)), (state) => state);
  expect([counts.cancelled?.length, counts.unknown?.length, counts.pending?.length]).toEqual([2098, 1, 1]);
});

it('P20: a batch gives the payouts of a state that nobody decided about yet, and how many there are', async () => {
  const ids = await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  await send(replies.refused(), replies.refused(), replies.refused());
  await retryNow(ids.slice(0, 1));
  expect(await decisionsOf().findInBatch('b-1', 'refused', 1)).toEqual({ ids: [ids[1]], count: 2 });
});

it('P20: a successor is held instead of sent once its predecessor, or the one before, shows as paid after all', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await send(replies.refused());
  await retryNow([id]);
  await send(replies.refused());
  const [second = 0n] = (
    await ledger.db.selectFrom('payouts').select('id').where('successor_of', '=', id).execute()
  ).map((row) => row.id);
  await retryNow([second]);
  expect(await states(ledger)).toEqual({ 'R-1': 'refused', 'R-1-R2': 'refused', 'R-1-R3': 'ready' });
  const witness = { source: 'listing' as const, status: 'success' as const, transferId: '9', trx: null };
  const rest = { fee: null, message: null, settledAt: null };
  await ledger.write((trx) =>
    record(trx, at(300), [
      { payoutId: id, source: 'listing', event: { kind: 'witness', witness: { ...witness, ...rest } } },
    ]),
  );
  expect(await claimAt(ledger, at(400), 5)).toEqual([]);
  expect(await states(ledger)).toEqual({ 'R-1': 'success', 'R-1-R2': 'refused', 'R-1-R3': 'held' });
});
