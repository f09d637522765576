import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LedgerEvent } from '../../../src/core/domain/transition.ts';
import { barrierKeys, findBarrier, raiseBarrier } from '../../../src/core/ledger/barriers.ts';
import { record } from '../../../src/core/ledger/record.ts';
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
import { answered, listedTransfer, nightOf } from './setting.ts';

const hour = 3_600_000;
let ledger: TestLedger;
let id: bigint;
beforeEach(async () => {
  ledger = await makeLedger();
  [id = 0n] = await addBatch(ledger, ['R-1']);
});
afterEach(() => ledger.remove());

async function send(ms: number, outcome = replies.unknown()): Promise<void> {
  const [claim] = await claimAt(ledger, at(ms));
  if (!claim) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(ms + 1), claim, outcome);
}
const tell = (ms: number, event: LedgerEvent) =>
  ledger.write((trx) => record(trx, at(ms), [{ payoutId: id, source: 'test', event }]));
const retry = (ms: number, to: 'ready' | 'held' = 'ready') =>
  tell(ms, { kind: 'retry', to, automatic: false, why: 'a person' });
const state = async () => (await payoutById(ledger, id)).state;
const failed = { status: 'failed' };

it('P17: after a resend one failed transfer of two possible ones never fails the payout', async () => {
  await send(0);
  await retry(10);
  await send(20);
  const rows = [listedTransfer('R-1', failed)];
  await nightOf(ledger, { at: hour, rows });
  expect(await state()).toBe('unknown');
  const both = [...rows, listedTransfer('R-1', { ...failed, id: 'T-2' })];
  await nightOf(ledger, { at: 2 * hour, rows: both, listing: { complete: false } });
  expect(await state(), 'a list that is not whole').toBe('unknown');
  await nightOf(ledger, { at: 3 * hour, rows: both });
  expect(await state()).toBe('failed');
});

it('P17: a failed transfer that was answered does not fail the payout while another of the reference stands', async () => {
  await send(0);
  await retry(10);
  await send(20, replies.accepted('T-R-1'));
  const rows = [listedTransfer('R-1', failed), listedTransfer('R-1', { id: 'T-2' })];
  await nightOf(ledger, { at: hour, rows });
  expect(await state()).toBe('success');
});

it('P17: a list that shows another transfer than the accepted one, failed, does not fail the payout', async () => {
  await addBatch(ledger, ['R-2'], { id: 'b-2' });
  await send(0, replies.accepted('T-R-1'));
  const [second] = await claimAt(ledger, at(2));
  if (!second) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(3), second, replies.accepted('T-R-2'));
  await nightOf(ledger, {
    at: hour,
    rows: [listedTransfer('R-1'), listedTransfer('R-2', { status: 'pending' })],
  });
  const other = listedTransfer('R-2', { ...failed, id: 'T-other' });
  const { kinds } = await nightOf(ledger, { at: 2 * hour, rows: [listedTransfer('R-1'), other] });
  expect([(await payoutById(ledger, second.payoutId)).state, kinds]).toEqual([
    'unknown',
    ['unknown_outcome R-2'],
  ]);
  const both = [listedTransfer('R-1'), other, listedTransfer('R-2', failed)];
  await nightOf(ledger, { at: 3 * hour, rows: both });
  expect((await payoutById(ledger, second.payoutId)).state, 'each of them failed').toBe('failed');
});

it('P17: two successes after two POSTs are paid_twice, the highest severity', async () => {
  await send(0);
  const rows = [listedTransfer('R-1'), listedTransfer('R-1', { id: 'T-2' })];
  await retry(10);
  await send(20);
  const { open } = await nightOf(ledger, { at: 2 * hour, rows });
  expect(open).toMatchObject([{ kind: 'paid_twice', severity: 'high' }]);
});

it('P17: details that tell of the failed one of two transfers contradict nothing while the list shows the other paid', async () => {
  await send(0);
  await retry(10);
  await send(20, replies.accepted('T-R-1'));
  await nightOf(ledger, { at: hour, rows: [listedTransfer('R-1')] });
  await answered(ledger, 'R-1', 2 * hour, 'against_ledger', { said: 'failed', against: 'success' });
  const only = await nightOf(ledger, { at: 3 * hour, rows: [listedTransfer('R-1')] });
  expect(only.kinds, 'one transfer: they disagree').toEqual(['status_conflict R-1']);
  const other = { ...failed, id: 'T-2' };
  const both = await nightOf(ledger, {
    at: 4 * hour,
    rows: [listedTransfer('R-1'), listedTransfer('R-1', other)],
  });
  expect(both.kinds).toEqual([]);
});

it('P17: two transfers after one POST are the service’s duplicate', async () => {
  await send(0);
  const rows = [listedTransfer('R-1'), listedTransfer('R-1', { ...failed, id: 'T-2' })];
  const { open } = await nightOf(ledger, { at: hour, rows });
  expect(open).toMatchObject([{ kind: 'duplicate_at_service', severity: 'medium' }]);
  expect(await state()).toBe('success');
});

it('P17: a send that an adopted ledger forgot counts as one that may have landed', async () => {
  await tell(5, { kind: 'adopted', since: at(0), why: 'restored' });
  await retry(10);
  await send(20);
  await nightOf(ledger, { at: hour, rows: [listedTransfer('R-1', failed)] });
  expect(await state()).toBe('unknown');
});

it('P17: a send that an adopted ledger forgot and one of ours, both paid, are paid_twice', async () => {
  await tell(5, { kind: 'adopted', since: at(0), why: 'restored' });
  await retry(10);
  await send(20);
  const rows = [listedTransfer('R-1'), listedTransfer('R-1', { id: 'T-2' })];
  const { open } = await nightOf(ledger, { at: hour, rows });
  expect(open).toMatchObject([{ kind: 'paid_twice' }]);
});

it('P25: an adopted payout that was never sent from here is matched by the list, not called a collision', async () => {
  await tell(5, { kind: 'adopted', since: at(0), why: 'restored' });
  const night = await nightOf(ledger, { at: hour, rows: [listedTransfer('R-1')] });
  expect(await state()).toBe('success');
  expect(night.kinds).toEqual([]);
});

it('P15: a retry that waits on hold is taken off when the list shows its first attempt', async () => {
  await send(0);
  await retry(10, 'held');
  await nightOf(ledger, { at: hour, rows: [listedTransfer('R-1')] });
  expect(await state()).toBe('success');
});

it('P15: an adopted payout that waits for its retry is taken off when the list shows it', async () => {
  await tell(5, { kind: 'adopted', since: at(0), why: 'restored' });
  await retry(10);
  await nightOf(ledger, { at: hour, rows: [listedTransfer('R-1')] });
  expect(await state()).toBe('success');
});

it('P14: a final state that list and details contradict stands, and each run reports it until they agree again', async () => {
  await send(0, replies.accepted('T-R-1'));
  await nightOf(ledger, { at: hour, rows: [listedTransfer('R-1')] });
  expect(await state()).toBe('success');
  const rows = [listedTransfer('R-1', failed)];
  const one = await nightOf(ledger, { at: 2 * hour, rows });
  expect([await state(), one.kinds]).toEqual(['success', ['status_conflict R-1']]);
  const other = await nightOf(ledger, { at: 3 * hour, rows, details: 'success' });
  expect([await state(), other.kinds]).toEqual(['success', ['status_conflict R-1']]);
  const both = await nightOf(ledger, { at: 4 * hour, rows, details: 'failed' });
  expect(await state()).toBe('success');
  expect(both.open).toMatchObject([{ kind: 'status_conflict', severity: 'high' }]);
  const healed = await nightOf(ledger, { at: 5 * hour, rows: [listedTransfer('R-1')] });
  expect(healed.kinds, 'closed by evidence').toEqual([]);
});

it('P19: the list reopens what a person settled, and the run reports it', async () => {
  await send(0);
  await tell(10, { kind: 'settle', as: 'failed', note: 'the bank said so' });
  const night = await nightOf(ledger, { at: hour, rows: [listedTransfer('R-1')] });
  expect(await state()).toBe('success');
  expect(night.open).toMatchObject([{ kind: 'status_conflict', severity: 'high' }]);
});

it('P4: a list begun before the latest attempt ended never fails the payout, and may show that it stands', async () => {
  await send(0, replies.turnedAway());
  await tell(5, { kind: 'looked_up', found: false });
  const rows = [listedTransfer('R-1', failed)];
  await nightOf(ledger, { at: hour, rows, meanwhile: () => send(hour) });
  expect(await state()).toBe('unknown');
  await nightOf(ledger, { at: 2 * hour, rows });
  expect(await state()).toBe('failed');
});

it('P25: a complete list begun after the adoption, and matched, lets the ledger send again', async () => {
  const barrier = () => findBarrier(ledger.db);
  const key = barrierKeys.listing;
  await ledger.write((trx) => raiseBarrier(trx, key, { at: at(hour), why: 'adopted', advice: null }));
  await nightOf(ledger, { at: hour });
  expect(await barrier(), 'begun no later').toBeDefined();
  await nightOf(ledger, { at: 2 * hour, listing: { complete: false } });
  expect(await barrier(), 'not complete').toBeDefined();
  await nightOf(ledger, { at: 3 * hour });
  expect(await barrier()).toBeUndefined();
});

it('P19: an unknown says until when not to pay it another way, then names retry and settle', async () => {
  await send(0);
  const [early] = (await nightOf(ledger, { at: hour })).open;
  expect(early).toMatchObject({ kind: 'unknown_outcome', severity: 'medium' });
  expect(early?.action).toBe(
    `We cannot tell whether this was paid. Do not pay it another way before ${at(24 * hour + 1)}. Counterfoil looks it up until then; afterwards ask the service in writing.`,
  );
  const [late] = (await nightOf(ledger, { at: 25 * hour })).open;
  expect(late?.severity).toBe('high');
  expect(late?.action).toMatch(/counterfoil retry R-1.*counterfoil settle R-1 --as paid .*--as not-paid/);
});

it('P19: the quiet period of an adopted payout counts from the adoption', async () => {
  await send(0);
  await tell(10, { kind: 'witness', witness: { ...seen, status: 'failed' } });
  await tell(10 * hour, { kind: 'adopted', since: at(0), why: 'restored' });
  const [open] = (await nightOf(ledger, { at: 30 * hour })).open;
  expect(open?.action).toContain(`before ${at(34 * hour)}`);
});
const seen = {
  source: 'details' as const,
  transferId: 'T',
  trx: null,
  fee: null,
  message: null,
  settledAt: null,
};
