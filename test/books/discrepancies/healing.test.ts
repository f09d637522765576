import { afterEach, beforeEach, expect, it } from 'vitest';
import { countOpen, listOpen, seen } from '../../../src/books/discrepancies/discrepancies.sql.ts';
import { closeHealed } from '../../../src/books/discrepancies/discrepancy-healing.sql.ts';
import { finding } from '../../../src/core/domain/discrepancy.ts';
import { discrepancyKinds, kindRules } from '../../../src/core/domain/discrepancy-kinds.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
let payoutId: bigint;
beforeEach(async () => {
  ledger = await makeLedger();
  [payoutId = 0n] = await addBatch(ledger, ['R-1']);
  const found = discrepancyKinds.map((kind) =>
    finding(kind, 'R-1', {
      payoutId,
      batchId: 'b-1',
      reference: 'R-1',
      trx: null,
      transferId: null,
      currency: 'NGN',
      expected: '10.00',
      actual: '9.00',
      difference: '-1.00',
      moved: true,
      evidence: 'listed',
    }),
  );
  await ledger.write((trx) => seen(trx, { run: '1', at: at(1) }, found));
});
afterEach(() => ledger.remove());

const blind = { complete: false, oldest: null, answered: [], judgedSince: '', receives: true, foreign: [] };
const next = { run: '2', at: at(2) };

it('the ledger takes every kind, and a run that sees everything closes each that it no longer finds', async () => {
  expect(Object.keys(await countOpen(ledger.db)).toSorted()).toEqual(discrepancyKinds);
  const all = { ...blind, complete: true, oldest: '', answered: [payoutId] };
  expect(await closeHealed(ledger, next, all)).toBe(discrepancyKinds.length);
  expect(await countOpen(ledger.db)).toEqual({});
});

it('a run without a list closes only what the ledger alone shows', async () => {
  await closeHealed(ledger, next, blind);
  const left = new Set((await listOpen(ledger.db, {})).map(({ kind }) => kindRules[kind].shownBy));
  expect([...left].toSorted()).toEqual(['foreign_transfer', 'no_transfer', 'transfer', 'transfer_count']);
});

it('a list that says nothing of a payout does not end that it was missing', async () => {
  await closeHealed(ledger, next, { ...blind, complete: true, oldest: '' });
  expect((await listOpen(ledger.db, {})).map(({ kind }) => kind)).toEqual(['missing_at_service']);
});
