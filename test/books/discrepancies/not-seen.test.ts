import { afterEach, beforeEach, expect, it } from 'vitest';
import { countOpen, listOpen } from '../../../src/books/discrepancies/discrepancies.sql.ts';
import { newestCompleteRun } from '../../../src/watching/listing/listings.sql.ts';
import { addBatch, at, makeLedger, states, type TestLedger } from '../../support/ledger.ts';
import { bothListed, listedTransfer, nightOf, sendAll } from './setting.ts';

const hour = 3_600_000;
const day = 24 * hour;
let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
  await addBatch(ledger, ['R-1', 'R-2']);
});
afterEach(() => ledger.remove());

it('P29: a run that did not see the whole list closes only by what it saw', async () => {
  await sendAll(ledger);
  const strange = listedTransfer('WHO', { id: 'T-9', account_number: '9' });
  await nightOf(ledger, { at: hour, rows: [...bothListed('9.00'), strange] });
  expect(await countOpen(ledger.db)).toEqual({ amount_conflict: 1, missing_in_ledger: 1 });
  const listing = { complete: false };
  await nightOf(ledger, { at: 2 * hour, rows: [listedTransfer('R-2')], listing });
  expect(await countOpen(ledger.db)).toEqual({ amount_conflict: 1, missing_in_ledger: 1 });
  await nightOf(ledger, { at: 3 * hour, rows: bothListed(), listing });
  expect(await countOpen(ledger.db)).toEqual({ missing_in_ledger: 1 });
  await nightOf(ledger, { at: 4 * hour, rows: bothListed() });
  expect(await countOpen(ledger.db)).toEqual({});
});

it('P29: another transfer of the payout does not close what one that was not seen again showed', async () => {
  await sendAll(ledger);
  await nightOf(ledger, { at: hour, rows: bothListed('9.00') });
  const another = [listedTransfer('R-1', { id: 'T-other' }), listedTransfer('R-2')];
  await nightOf(ledger, { at: 2 * hour, rows: another, listing: { complete: false } });
  const [first] = await listOpen(ledger.db, { states: ['open', 'acknowledged', 'resolved'] });
  expect(first).toMatchObject({ kind: 'amount_conflict', state: 'open' });
});

it('P28: an incomplete list that shows only another, failed transfer of a paid payout contradicts nothing', async () => {
  await sendAll(ledger);
  await nightOf(ledger, { at: hour, rows: bothListed() });
  const another = [listedTransfer('R-1', { id: 'T-other', status: 'failed' }), listedTransfer('R-2')];
  const { kinds } = await nightOf(ledger, { at: 2 * hour, rows: another, listing: { complete: false } });
  expect(kinds).toEqual([]);
});

it('P29: a short cut does not judge a payout by a later transfer of it alone', async () => {
  await sendAll(ledger);
  const pending = bothListed().map((row) => ({ ...row, status: 'pending' }));
  const { summary } = await nightOf(ledger, { at: hour, rows: pending });
  const another = [listedTransfer('R-1', { id: 'T-other', status: 'failed', created_at: at(8 * day) })];
  const window = { edge: at(day), base: summary.run };
  const { kinds } = await nightOf(ledger, {
    at: 9 * day,
    rows: another,
    listing: { complete: 'window', window },
  });
  expect(kinds).not.toContain('status_conflict R-1');
  expect(await states(ledger)).toMatchObject({ 'R-1': 'pending' });
});

it('P28: what is older than the oldest row listed may have been pruned, and is not closed by its absence', async () => {
  await sendAll(ledger);
  const strange = listedTransfer('WHO', { id: 'T-9', account_number: '9', created_at: at(0) });
  await nightOf(ledger, { at: hour, rows: [...bothListed(), strange] });
  await nightOf(ledger, { at: 2 * hour, rows: bothListed(), listing: { oldestCreatedAt: at(1) } });
  expect(await countOpen(ledger.db)).toEqual({ missing_in_ledger: 1 });
});

it('a complete list of another account closes nothing', async () => {
  await sendAll(ledger);
  const strange = listedTransfer('WHO', { id: 'T-9', account_number: '9' });
  await nightOf(ledger, { at: hour, rows: [...bothListed('9.00'), strange] });
  await nightOf(ledger, { at: 2 * hour, rows: [], details: 'no_answer' });
  expect(await countOpen(ledger.db)).toEqual({ amount_conflict: 1, missing_in_ledger: 1 });
});

it('P28: the list of another account is not the complete list that decisions and short cuts rest on', async () => {
  await sendAll(ledger);
  const ours = await nightOf(ledger, { at: hour, rows: bothListed(), full: true });
  const alien = await nightOf(ledger, { at: 2 * hour, rows: [listedTransfer('ALIEN')], full: true });
  expect(alien.summary.trouble).toMatch(/belong to this ledger/);
  expect((await newestCompleteRun(ledger.db, []))?.id).toBe(ours.summary.run);
});

it('nothing is called missing on the word of a list that shows none of ours, and the run says why', async () => {
  await sendAll(ledger);
  await nightOf(ledger, { at: hour, rows: bothListed(), full: true });
  const empty = await nightOf(ledger, { at: 2 * hour, rows: [], full: true });
  expect(empty.summary.trouble).toMatch(/belong to this ledger/);
  expect(empty.kinds).toEqual([]);
  const window = { edge: at(-hour), base: empty.summary.run };
  const cut = await nightOf(ledger, { at: 3 * hour, rows: [], listing: { complete: 'window', window } });
  expect(cut.summary.trouble, 'nor on that of a short cut which should have shown them').toMatch(/belong to/);
  expect(cut.kinds).toEqual([]);
  const half = await nightOf(ledger, { at: 4 * hour, rows: [listedTransfer('R-1')], full: true });
  expect(half.kinds, 'one of ours in it is enough').toEqual(['missing_at_service R-2']);
});
