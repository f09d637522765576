import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  barrierKeys,
  noteFall,
  noteListAfterAdoption,
  raiseBarrier,
} from '../../src/core/ledger/barriers.ts';
import { record } from '../../src/core/ledger/record.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { liftHalt } from '../../src/sending/halts.sql.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { listedTransfer, nightOf } from '../books/discrepancies/setting.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  states,
  type TestLedger,
} from '../support/ledger.ts';
import { adoptAlone } from './adoption.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const adopt = (when: number): Promise<number> => adoptAlone(ledger.path, when);

/** The details of the service, word for word that this transfer failed. */
const failedBy = (transferId: string) => ({
  kind: 'witness' as const,
  witness: {
    source: 'details' as const,
    status: 'failed' as const,
    transferId,
    trx: null,
    fee: null,
    message: 'no such account',
    settledAt: null,
  },
});

/** One payout in each state that a ledger may have forgotten, and some that it cannot have. */
async function everyState(): Promise<void> {
  await addBatch(ledger, ['ACCEPTED', 'REFUSED', 'UNKNOWN', 'SENDING', 'FAILED', 'READY']);
  await addBatch(ledger, ['HELD'], { id: 'b-2', state: 'held' });
  const claims = await claimAt(ledger, at(1), 5);
  const outcomes = [replies.accepted(), replies.refused(), replies.unknown(), null, replies.accepted('482')];
  for (const [i, outcome] of outcomes.entries()) {
    const one = claims[i];
    if (one && outcome) await recordOutcome(ledger, at(2), one, outcome);
  }
  const failed = claims[4]?.payoutId ?? 0n;
  const event = failedBy('482');
  await ledger.write((trx) => record(trx, at(3), [{ payoutId: failed, source: 'details', event }]));
}

it('P25: adoption makes unknown whatever may have been sent since, and nothing is sent before a listing', async () => {
  await everyState();
  await ledger.close();
  // SENDING was abandoned on the way, so it is unknown before its turn comes.
  expect(await adopt(10_000)).toBe(4);
  const now = await openLedger(ledger.path, { now: () => at(20_000) });
  expect(await states(now)).toEqual({
    ACCEPTED: 'pending',
    REFUSED: 'unknown',
    UNKNOWN: 'unknown',
    SENDING: 'unknown',
    FAILED: 'unknown',
    READY: 'unknown',
    HELD: 'unknown',
  });
  await addBatch(now, ['NEW'], { id: 'b-new' });
  expect((await haltInWords(now.db))?.cause).toContain('reconcile --full');
  await now.write((trx) => liftHalt(trx, { at: at(20_000) }));
  expect(await claimAt(now, at(20_000)), 'release --mode does not lift it').toEqual([]);
  await now.write((trx) => noteListAfterAdoption(trx, { startedAt: at(10_000), now: at(20_000) }));
  expect(await claimAt(now, at(20_000)), 'a listing begun no later is none').toEqual([]);
  await now.write((trx) => noteListAfterAdoption(trx, { startedAt: at(10_001), now: at(20_000) }));
  expect(await claimAt(now, at(20_000))).toMatchObject([{ reference: 'NEW' }]);
  expect((await verifyLedger(ledger.path)).checks.filter((check) => !check.ok)).toEqual([]);
  await now.close();
});

it('P25: a ledger adopted under a clock that ran ahead sends again after a listing of the right time', async () => {
  await ledger.close();
  await adopt(10_000);
  const now = await openLedger(ledger.path, { now: () => at(1000) });
  await addBatch(now, ['NEW']);
  expect(await claimAt(now, at(1000))).toEqual([]);
  await now.write((trx) => noteListAfterAdoption(trx, { startedAt: at(1000), now: at(2000) }));
  expect(await claimAt(now, at(2000))).toMatchObject([{ reference: 'NEW' }]);
  await now.close();
});

it('P4, P25: a refusal after the adoption says nothing of what the lost copy may have sent', async () => {
  const [payoutId = 0n] = await addBatch(ledger, ['R-1']);
  await ledger.close();
  await adopt(10_000);
  const now = await openLedger(ledger.path, { now: () => at(20_000) });
  await now.write((trx) => noteListAfterAdoption(trx, { startedAt: at(10_001), now: at(20_000) }));
  const event = { kind: 'retry' as const, to: 'ready' as const, automatic: false, why: 'ada' };
  await now.write((trx) => record(trx, at(20_000), [{ payoutId, source: 'ada', event }]));
  const [again] = await claimAt(now, at(20_001));
  if (!again) throw new Error('nothing was claimed');
  await recordOutcome(now, at(20_002), again, replies.refused());
  expect(await states(now)).toEqual({ 'R-1': 'unknown' });
  await now.close();
});

it('P25: what the lost copy sent of a file that was dropped again is no older transfer of somebody else', async () => {
  const [payoutId = 0n] = await addBatch(ledger, ['R-1']);
  const event = { kind: 'hold' as const, why: 'a person' };
  await ledger.write((trx) => record(trx, at(1000), [{ payoutId, source: 'ada', event }]));
  await ledger.write((trx) => noteFall(trx, { at: at(3000), why: 'an older copy', advice: null }));
  const [id = 0n] = await addBatch(ledger, ['R-2'], { id: 'b-2' });
  await ledger.db
    .updateTable('batches')
    .set({ created_at: at(5000) })
    .where('id', '=', 'b-2')
    .execute();
  await ledger.close();
  await adopt(10_000);
  const now = await openLedger(ledger.path, { now: () => at(20_000) });
  expect((await payoutById(now, id)).submitted_at, 'the newest entry of the copy').toBe(at(1000));
  await now.close();
});

it('P25: a transfer of the lost copy is ours, also after an attempt of this one', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await ledger.close();
  await adopt(10_000);
  const now = await openLedger(ledger.path, { now: () => at(20_000) });
  await now.write((trx) => noteListAfterAdoption(trx, { startedAt: at(10_001), now: at(20_000) }));
  const retry = { kind: 'retry' as const, to: 'ready' as const, automatic: false, why: 'a person' };
  await now.write((trx) => record(trx, at(3_600_000), [{ payoutId: id, source: 'person', event: retry }]));
  const [sent] = await claimAt(now, at(3_600_000));
  if (sent) await recordOutcome(now, at(3_600_001), sent, replies.unknown());
  const rows = [
    listedTransfer('R-1', { id: '7', created_at: at(5000) }),
    listedTransfer('R-1', { id: '8', status: 'failed', created_at: at(3_600_000) }),
  ];
  await nightOf(
    { ...now, folder: ledger.folder, remove: ledger.remove },
    { at: 4_000_000, rows, full: true },
  );
  expect((await payoutById(now, id)).state).toBe('success');
  await now.close();
});

it('P25: a forgotten send counts, and is remembered as old as its batch', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await ledger.close();
  await adopt(10_000);
  const now = await openLedger(ledger.path, { now: () => at(20_000) });
  expect(await payoutById(now, id)).toMatchObject({ unseen_sends: 1n, submitted_at: at(0) });
  await now.close();
});

it('P25: a retry that waited in the copy may have gone out: one failed transfer does not make it failed', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  const [first] = await claimAt(ledger, at(1));
  if (first) await recordOutcome(ledger, at(2), first, replies.unknown());
  const retry = { kind: 'retry' as const, to: 'ready' as const, automatic: false, why: 'a person' };
  await ledger.write((trx) => record(trx, at(3), [{ payoutId: id, source: 'person', event: retry }]));
  await ledger.close();
  await adopt(10_000);
  const now = await openLedger(ledger.path, { now: () => at(20_000) });
  expect((await payoutById(now, id)).unseen_sends).toBe(1n);
  await now.write((trx) =>
    record(trx, at(20_000), [{ payoutId: id, source: 'details', event: failedBy('T1') }]),
  );
  expect((await payoutById(now, id)).state, 'the other may still be paid').toBe('unknown');
  await now.close();
});

it('P25: what the service shows before the adoption counts as sent once more, too (P17)', async () => {
  const [unknown = 0n, retried = 0n] = await addBatch(ledger, ['R-1', 'R-2']);
  const claims = await claimAt(ledger, at(1), 2);
  for (const one of claims) await recordOutcome(ledger, at(2), one, replies.unknown());
  const behind = { at: at(3), why: 'an older copy was put back', advice: null };
  await ledger.write((trx) => raiseBarrier(trx, barrierKeys.behind, behind));
  const shows = (status: 'pending' | 'success') => ({
    kind: 'witness' as const,
    witness: { ...failedBy('T1').witness, status, message: null },
  });
  await ledger.write((trx) =>
    record(trx, at(4), [
      { payoutId: unknown, source: 'details', event: shows('pending') },
      { payoutId: retried, source: 'details', event: shows('success') },
      { payoutId: retried, source: 'details', event: shows('success') },
    ]),
  );
  await ledger.close();
  await adopt(10_000);
  const now = await openLedger(ledger.path, { now: () => at(20_000) });
  expect(await payoutById(now, retried)).toMatchObject({ state: 'success', unseen_sends: 1n });
  await now.write((trx) =>
    record(trx, at(20_000), [{ payoutId: unknown, source: 'details', event: failedBy('T1') }]),
  );
  expect(await payoutById(now, unknown), 'the lost copy may have sent it again').toMatchObject({
    state: 'unknown',
    unseen_sends: 1n,
  });
  await now.close();
});

it('P25: each copy that was lost may have sent it once more', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await ledger.close();
  await adopt(10_000);
  await adopt(20_000);
  const now = await openLedger(ledger.path, { now: () => at(30_000) });
  expect((await payoutById(now, id)).unseen_sends).toBe(2n);
  await now.write((trx) =>
    record(trx, at(30_000), [{ payoutId: id, source: 'details', event: failedBy('T1') }]),
  );
  expect((await payoutById(now, id)).state).toBe('unknown');
  await now.close();
});

it('P25: an empty list, of a service known to have one of ours, lets nothing go', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  const [first] = await claimAt(ledger, at(1));
  if (first) await recordOutcome(ledger, at(2), first, replies.accepted('T-R-1'));
  await nightOf(ledger, { at: 300_000, rows: [listedTransfer('R-1')], full: true });
  expect((await payoutById(ledger, id)).state).toBe('success');
  await ledger.close();
  await adopt(600_000);
  const now = await openLedger(ledger.path, { now: () => at(600_001) });
  const night = (ms: number, rows: ReturnType<typeof listedTransfer>[]) =>
    nightOf({ ...now, folder: ledger.folder, remove: ledger.remove }, { at: ms, rows, full: true });
  expect((await night(1_200_000, [])).summary).toMatchObject({ complete: true, matched: 0 });
  await addBatch(now, ['NEW'], { id: 'b-new' });
  expect(await claimAt(now, at(1_300_000))).toEqual([]);
  await night(1_400_000, [listedTransfer('R-1')]);
  expect(await claimAt(now, at(1_500_000)), 'a list with ours in it does').toMatchObject([
    { reference: 'NEW' },
  ]);
  await now.close();
});

it('P25: an empty list lets nothing go either where the service only answered that it took one of ours', async () => {
  await addBatch(ledger, ['R-1']);
  const [first] = await claimAt(ledger, at(1));
  if (first) await recordOutcome(ledger, at(2), first, replies.accepted('T-R-1'));
  await ledger.close();
  await adopt(600_000);
  const now = await openLedger(ledger.path, { now: () => at(600_001) });
  const night = (ms: number, rows: ReturnType<typeof listedTransfer>[]) =>
    nightOf({ ...now, folder: ledger.folder, remove: ledger.remove }, { at: ms, rows, full: true });
  const { summary } = await night(1_200_000, []);
  expect(summary.trouble, 'and the run says why').toMatch(/does the key belong/);
  await addBatch(now, ['NEW'], { id: 'b-new' });
  expect(await claimAt(now, at(1_300_000))).toEqual([]);
  await night(1_400_000, [listedTransfer('R-1')]);
  expect(await claimAt(now, at(1_500_000))).toMatchObject([{ reference: 'NEW' }]);
  await now.close();
});
