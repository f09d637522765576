import { afterEach, beforeEach, expect, it } from 'vitest';
import { weigh } from '../../../src/watching/evidence/weigh.ts';
import { listedTransfer, nightOf } from '../../books/discrepancies/setting.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const minute = 60_000;

/** A run each minute whose list broke off at its first page. */
async function nightsWithoutList(first: number, count: number): Promise<void> {
  const listing = { complete: false, listed: 0, trouble: 'page 1: HTTP 503' };
  for (let i = 0; i < count; i++)
    await nightOf(ledger, { at: (first + i) * minute, listing, details: 'no_answer' });
}

it('P20: what the newest complete list showed still counts after nights without a list', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  const [first] = await claimAt(ledger, at(1));
  if (first) await recordOutcome(ledger, at(2), first, replies.unknown());
  const rows = [listedTransfer('R-1', { bank_code: '13' })];
  await nightOf(ledger, { at: 20 * minute, rows, full: true, details: 'no_answer' });
  await nightsWithoutList(21, 5);
  const [one] = (await weigh(ledger.db, { ids: [id], since: at(0) })).cases;
  expect(one?.listing?.statuses).toEqual(['success']);
  expect(one?.judgement.kind).toBe('no');
});

it('P15: what the newest complete list showed is held after nights without a list, not sent', async () => {
  await nightOf(ledger, { at: 20 * minute, rows: [listedTransfer('R-9')], full: true });
  await nightsWithoutList(21, 5);
  await addBatch(ledger, ['R-9', 'R-10']);
  const sent = await claimAt(ledger, at(30 * minute), 9);
  expect(sent.map((one) => one.reference)).toEqual(['R-10']);
});

it('P15: a clock that was ahead once does not make older lists the newest', async () => {
  for (const n of [120, 121, 122, 123]) await nightOf(ledger, { at: n * minute });
  await nightOf(ledger, { at: 20 * minute, rows: [listedTransfer('R-9')], full: true });
  await addBatch(ledger, ['R-9', 'R-10']);
  const sent = await claimAt(ledger, at(30 * minute), 9);
  expect(sent.map((one) => one.reference)).toEqual(['R-10']);
});

it('drops the lists of older runs, all but the newest complete one', async () => {
  for (const n of [1, 2])
    await nightOf(ledger, { at: n * minute, rows: [listedTransfer(`R-${n}`)], full: true });
  await nightsWithoutList(3, 5);
  const left = ledger.db.selectFrom('listed').select('reference').distinct();
  expect(await left.execute()).toEqual([{ reference: 'R-2' }]);
});
