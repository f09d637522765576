import { afterEach, beforeEach, expect, it } from 'vitest';
import { historyHash } from '../../../src/core/ledger/history.ts';
import type { HistoryRow } from '../../../src/core/storage/tables/tables.ts';
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
let rows: HistoryRow[];
let head: string;
beforeEach(async () => {
  ledger = await makeLedger();
  const [id = 0n] = await addBatch(ledger, ['R-1', 'R-2']);
  for (const one of await claimAt(ledger, at(1), 2))
    await recordOutcome(ledger, at(2), one, replies.accepted());
  const history = ledger.db.selectFrom('history').selectAll();
  rows = await history.where('payout_id', '=', id).orderBy('seq').execute();
  head = (await payoutById(ledger, id)).history_head;
});
afterEach(() => ledger.remove());

/** Recomputes the chain from its fields alone; true when each link and the head hold. */
function verifies(chain: readonly HistoryRow[]): boolean {
  let previous = '';
  for (const { payout_id, from_state, to_state, prev_hash, hash, ...row } of chain) {
    if (prev_hash !== null) return false;
    previous = historyHash(previous, { ...row, payoutId: payout_id, from: from_state, to: to_state });
    if (hash !== previous) return false;
  }
  return previous === head;
}

it('P27: the chain of a payout verifies by recomputing it from the first entry', () => {
  expect(rows.map((row) => [row.seq, row.event, row.from_state, row.to_state])).toEqual([
    [1n, 'intake', null, 'ready'],
    [2n, 'intent', 'ready', 'sending'],
    [3n, 'accepted', 'sending', 'pending'],
  ]);
  expect(verifies(rows)).toBe(true);
});

it('P27: a changed field, a missing entry or another order breaks the chain', () => {
  const changed = (patch: Partial<HistoryRow>) =>
    rows.map((row, i) => (i === 1 ? { ...row, ...patch } : row));
  const forged: Partial<HistoryRow>[] = [
    { at: at(9) },
    { event: 'cancel' },
    { source: 'x' },
    { from_state: 'held' },
    { to_state: 'ready' },
    { detail: '{}' },
    { payout_id: 2n },
    { seq: 7n },
  ];
  for (const patch of forged) expect(verifies(changed(patch)), Object.keys(patch).join()).toBe(false);
  expect(verifies(rows.slice(1))).toBe(false);
  expect(verifies(rows.slice(0, -1)), 'cut off at its end').toBe(false);
  expect(verifies([...rows].reverse())).toBe(false);
});

it('P27: the history can only grow', async () => {
  await expect(ledger.db.updateTable('history').set({ event: 'cancel' }).execute()).rejects.toThrow(
    'append-only',
  );
  await expect(ledger.db.deleteFrom('history').execute()).rejects.toThrow('append-only');
});
