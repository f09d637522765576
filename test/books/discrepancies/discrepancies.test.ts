import { afterEach, beforeEach, expect, it } from 'vitest';
import { listOpen, seen } from '../../../src/books/discrepancies/discrepancies.sql.ts';
import { decide } from '../../../src/books/discrepancies/discrepancy-decisions.sql.ts';
import { livesOf } from '../../../src/books/discrepancies/discrepancy-events.sql.ts';
import { type FoundFields, finding } from '../../../src/core/domain/discrepancy.ts';
import { at, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const fields: FoundFields = {
  payoutId: null,
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
};
const by = (run: string, ms: number) => ({ run, at: at(ms) });
const found = (n: number) => finding('amount_conflict', `R-${n}`, { ...fields, reference: `R-${n}` });

it('many are found, found again and decided about in one go, each with its own life', async () => {
  const all = Array.from({ length: 1201 }, (_, n) => found(n));
  expect(await ledger.write((trx) => seen(trx, by('1', 1), [...all, found(7)]))).toBe(1201);
  expect(await ledger.write((trx) => seen(trx, by('2', 2), all))).toBe(0);
  const word = { verdict: 'acknowledge' as const, note: 'known', person: 'ada', at: at(3) };
  const filter = { kind: 'amount_conflict' as const };
  expect(await ledger.write((trx) => decide(trx, filter, word))).toBe(1201);
  const ids = (await listOpen(ledger.db, filter)).map(({ id }) => id);
  const lives = await livesOf(ledger.db, ids);
  expect(lives.size).toBe(1201);
  expect(
    [...lives.values()].every((life) => life.map(({ event }) => event).join() === 'opened,acknowledged'),
  ).toBe(true);
});

it('a life is append-only', async () => {
  await ledger.write((trx) => seen(trx, by('1', 1), [found(1)]));
  const change = ledger.db.updateTable('discrepancy_events').set({ note: 'never was' }).execute();
  await expect(change).rejects.toThrow('append-only');
  await expect(ledger.db.deleteFrom('discrepancy_events').execute()).rejects.toThrow('append-only');
});
