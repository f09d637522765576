import { afterEach, beforeEach, expect, it } from 'vitest';
import { record } from '../../src/core/ledger/record.ts';
import { liftHalt, tooManyUnknown } from '../../src/sending/halts.sql.ts';
import { holdBatch, releaseBatch } from '../../src/sending/holds.sql.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  states,
  type TestLedger,
} from '../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const hour = 3_600_000;
const unknownAt = async (ms: number): Promise<void> => {
  const [claim] = await claimAt(ledger, at(ms));
  if (claim) await recordOutcome(ledger, at(ms), claim, replies.unknown());
};
const tooMany = () => ledger.write((trx) => tooManyUnknown(trx, 3));

it('P11: a clock that was set back does not hide the unknown outcomes that came after', async () => {
  await addBatch(ledger, ['R-1', 'R-2', 'R-3', 'R-4']);
  const [claim] = await claimAt(ledger, at(2 * hour));
  if (claim) await recordOutcome(ledger, at(2 * hour), claim, replies.accepted());
  for (const ms of [1, 2, 3]) await unknownAt(ms);
  expect(await tooMany()).toEqual({ kind: 'unknowns', count: 3, of: 3 });
});

it('P11: a release before the clock was set back does not hide the unknown outcomes after it', async () => {
  await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  await ledger.write((trx) => liftHalt(trx, { at: at(2 * hour) }));
  for (const ms of [1, 2, 3]) await unknownAt(ms);
  expect(await tooMany()).toEqual({ kind: 'unknowns', count: 3, of: 3 });
});

it('P21: a release that is cut short leaves the reason with what is still held', async () => {
  await addBatch(ledger, ['R-1'], { state: 'held' });
  const request = { batch: 'b-1', reason: { kind: 'person' as const }, at: at(1) };
  await holdBatch(ledger, request);
  let commits = 0;
  const dying = {
    ...ledger,
    write: <T>(work: Parameters<typeof ledger.write<T>>[0]): Promise<T> => {
      if (commits++ > 0) throw new Error('killed');
      return ledger.write(work);
    },
  };
  await releaseBatch(dying, request).catch(() => undefined);
  const batch = await ledger.db.selectFrom('batches').select('hold_reasons').executeTakeFirstOrThrow();
  const held = Object.values(await states(ledger)).includes('held');
  expect(batch.hold_reasons !== '[]').toBe(held);
});

it('P23: what is told of a payout whose batch is still on its way in does not keep intake from finishing it', async () => {
  const [id] = await addBatch(ledger, ['R-1'], { state: 'held', phase: 'loading', id: 'b-2' });
  await ledger.db.updateTable('payouts').set({ history_seq: 0n, history_head: '' }).execute();
  const event = { kind: 'looked_up' as const, found: false };
  await ledger.write((trx) => record(trx, at(1), [{ payoutId: id ?? 0n, source: 'details', event }]));
  expect(await ledger.db.selectFrom('payouts').select('history_seq').executeTakeFirstOrThrow()).toEqual({
    history_seq: 0n,
  });
});
