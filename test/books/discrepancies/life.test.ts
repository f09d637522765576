import { afterEach, beforeEach, expect, it } from 'vitest';
import { listOpen } from '../../../src/books/discrepancies/discrepancies.sql.ts';
import {
  type DiscrepancyDecision,
  decide,
} from '../../../src/books/discrepancies/discrepancy-decisions.sql.ts';
import { livesOf } from '../../../src/books/discrepancies/discrepancy-events.sql.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../../support/ledger.ts';
import { answered, bothListed, listedTransfer, nightOf, sendAll } from './setting.ts';

const hour = 3_600_000;
const day = 24 * hour;
let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
  await addBatch(ledger, ['R-1', 'R-2']);
});
afterEach(() => ledger.remove());

const one = async () => {
  const [found] = await listOpen(ledger.db, { states: ['open', 'acknowledged', 'resolved'] });
  if (!found) throw new Error('nothing was found');
  return found;
};
const life = async () => (await livesOf(ledger.db, [(await one()).id])).get((await one()).id) ?? [];
const say = async (verdict: DiscrepancyDecision, note: string, ms: number) => {
  const { id } = await one();
  const word = { verdict, note, person: 'ada', at: at(ms) };
  return ledger.write((trx) => decide(trx, { ids: [id] }, word));
};

it('its whole life is kept: first sight, what closed it, how often it came back', async () => {
  await sendAll(ledger);
  await nightOf(ledger, { at: hour, rows: bothListed('9.00') });
  await nightOf(ledger, { at: 2 * hour, rows: bothListed('9.00') });
  const { summary } = await nightOf(ledger, { at: 3 * hour, rows: bothListed() });
  expect(summary.discrepancies).toMatchObject({ open: {}, resolved: 1 });
  expect(await one()).toMatchObject({
    state: 'resolved',
    resolved_by: 'evidence',
    resolved_at: at(3 * hour),
  });
  await nightOf(ledger, { at: 4 * hour, rows: bothListed('9.00') });
  expect(await one()).toMatchObject({
    state: 'open',
    resolved_by: null,
    resolved_at: null,
    first_seen_at: at(hour),
    note: 'came back; reopened once',
    reopened: 1n,
  });
  expect((await life()).map(({ at: when, event, source }) => [when, event, source.split(' ')[0]])).toEqual([
    [at(hour), 'opened', 'run'],
    [at(3 * hour), 'closed', 'run'],
    [at(4 * hour), 'reopened', 'run'],
  ]);
  expect((await life())[1]?.note).toBe(
    `closed by evidence of run ${summary.run}; listed as transfer T-R-1, success 1500.00 NGN; ledger: success by response+listing`,
  );
});

it('acknowledged stays so while it is the same, and evidence closes it with the person’s note beside', async () => {
  await sendAll(ledger);
  await nightOf(ledger, { at: hour, rows: bothListed('9.00') });
  expect(await say('acknowledge', 'ticket 4711', 2 * hour)).toBe(1);
  expect(await say('acknowledge', 'again', 2 * hour)).toBe(0);
  const { summary } = await nightOf(ledger, { at: 3 * hour, rows: bothListed('9.00') });
  expect(summary.discrepancies).toMatchObject({ open: {}, opened: 0 });
  expect(await one()).toMatchObject({
    state: 'acknowledged',
    note: 'ticket 4711',
    last_seen_at: at(3 * hour),
  });
  await nightOf(ledger, { at: 4 * hour, rows: bothListed() });
  expect(await one()).toMatchObject({ state: 'resolved', resolved_by: 'evidence' });
  expect((await one()).note).toMatch(/^ticket 4711; closed by evidence of run /);
});

it('what a person resolved stays resolved while the same is found, and opens again when it changes', async () => {
  await sendAll(ledger);
  await nightOf(ledger, { at: hour, rows: bothListed('9.00') });
  expect(await say('resolve', 'the service owes us', 2 * hour)).toBe(1);
  const same = await nightOf(ledger, { at: 3 * hour, rows: bothListed('9.00') });
  expect(same.summary.discrepancies).toMatchObject({ open: {}, opened: 0, resolved: 0 });
  expect(await one()).toMatchObject({ state: 'resolved', resolved_by: 'person', resolved_at: at(2 * hour) });
  const changed = await nightOf(ledger, { at: 4 * hour, rows: bothListed('8.00') });
  expect(changed.summary.discrepancies).toMatchObject({ open: { amount_conflict: 1 }, opened: 1 });
  expect((await one()).note).toBe(
    'changed since a person resolved it (the service owes us); then expected 1500.00, found 9.00; reopened once',
  );
  expect((await life()).map(({ event, source }) => `${event} ${source.split(' ')[0]}`)).toEqual([
    'opened run',
    'resolved person:ada',
    'reopened run',
  ]);
});

it('what a person resolved opens again when it was gone meanwhile, though the same is found', async () => {
  await sendAll(ledger);
  await nightOf(ledger, { at: hour, rows: bothListed('9.00') });
  await say('resolve', 'written off', 2 * hour);
  const gone = await nightOf(ledger, { at: 3 * hour, rows: bothListed() });
  expect(gone.summary.discrepancies, 'it was resolved before').toMatchObject({ opened: 0, resolved: 0 });
  expect((await one()).note).toMatch(/^written off; closed by evidence of run /);
  await nightOf(ledger, { at: 4 * hour, rows: bothListed() });
  const back = await nightOf(ledger, { at: 5 * hour, rows: bothListed('9.00') });
  expect(back.summary.discrepancies).toMatchObject({ open: { amount_conflict: 1 }, opened: 1 });
  expect((await life()).map(({ event }) => event)).toEqual(['opened', 'resolved', 'closed', 'reopened']);
});

it('severity is renewed by each run that finds it again', async () => {
  await sendAll(ledger);
  const pending = (amount = '1500.00') => [
    listedTransfer('R-1', { status: 'pending', amount }),
    listedTransfer('R-2'),
  ];
  await nightOf(ledger, { at: 25 * hour, rows: pending() });
  expect(await one()).toMatchObject({ kind: 'stale_pending', severity: 'medium' });
  await nightOf(ledger, { at: 25 * hour + 3 * day, rows: pending() });
  expect(await one()).toMatchObject({ kind: 'stale_pending', severity: 'high', graver_at: null });
});

it('age makes it graver also where the list lacks its payout', async () => {
  await sendAll(ledger);
  const fee = (amount: string) => [listedTransfer('R-1', { fee: amount }), listedTransfer('R-2')];
  await nightOf(ledger, { at: hour, rows: fee('10.00') });
  await nightOf(ledger, { at: 2 * hour, rows: fee('25.00') });
  expect(await one()).toMatchObject({ kind: 'fee_conflict', severity: 'low', difference: '15.00' });
  await nightOf(ledger, { at: 31 * day, rows: [listedTransfer('R-2')], listing: { complete: false } });
  expect(await one()).toMatchObject({ state: 'open', severity: 'medium' });
});

it('one payout that is gone is one discrepancy: it is not stale too while it is called missing', async () => {
  await sendAll(ledger);
  const first = await nightOf(ledger, { at: 25 * hour, rows: [listedTransfer('R-2')] });
  expect(first.kinds).toEqual(['missing_at_service R-1']);
  const unanswered = await nightOf(ledger, {
    at: 26 * hour,
    rows: [listedTransfer('R-2')],
    details: 'no_answer',
  });
  expect(unanswered.kinds).toEqual(['missing_at_service R-1']);
  const back = [listedTransfer('R-1', { status: 'pending' }), listedTransfer('R-2')];
  expect((await nightOf(ledger, { at: 27 * hour, rows: back })).kinds).toEqual(['stale_pending R-1']);
});

it('the gravest come first, what was paid twice before all others, then the oldest', async () => {
  await sendAll(ledger);
  const twice = listedTransfer('R-2', { id: 'T-2', account_number: '0123456789' });
  const { open } = await nightOf(ledger, {
    at: hour,
    rows: [listedTransfer('R-1', { amount: '1499.50' }), listedTransfer('R-2'), twice],
  });
  expect(open.map(({ kind, severity, difference }) => [kind, severity, difference])).toEqual([
    ['duplicate_at_service', 'high', '1500.00'],
    ['amount_conflict', 'medium', '-0.50'],
  ]);
});

it('P14: details that contradict the ledger are reported though the list agrees, and healed by details that agree', async () => {
  await sendAll(ledger);
  await nightOf(ledger, { at: hour, rows: bothListed() });
  await answered(ledger, 'R-1', 2 * hour, 'against_ledger', { said: 'failed', against: 'success' });
  const night = await nightOf(ledger, { at: 3 * hour, rows: bothListed() });
  expect(night.kinds).toEqual(['status_conflict R-1']);
  expect(night.open).toMatchObject([{ expected: 'success', actual: 'failed', severity: 'high' }]);
  expect(night.summary.lookups, 'asked again').toBe(1);
  const differences = JSON.stringify([{ field: 'amount', actual: '9.00', expected: '1500.00' }]);
  await answered(ledger, 'R-1', 4 * hour, 'differs', { differences });
  const other = await nightOf(ledger, { at: 5 * hour, rows: bothListed() });
  expect(other.open).toMatchObject([
    { kind: 'amount_conflict', expected: 'amount 1500.00', actual: 'amount 9.00', difference: '-1491.00' },
  ]);
  await answered(ledger, 'R-1', 6 * hour, 'found');
  expect((await nightOf(ledger, { at: 7 * hour, rows: bothListed() })).kinds).toEqual([]);
});

it('a missing webhook is closed as no longer expected, not by evidence, once nobody can reach us', async () => {
  await sendAll(ledger);
  const list = [listedTransfer('R-1'), listedTransfer('R-2', { status: 'pending' })];
  const receives = true;
  await nightOf(ledger, { at: hour, rows: list, receives });
  expect((await nightOf(ledger, { at: 3 * hour, rows: list, receives })).kinds).toEqual([
    'webhook_missing R-1',
  ]);
  const { summary } = await nightOf(ledger, { at: 4 * hour, rows: list, receives: false });
  expect(summary.discrepancies).toMatchObject({ open: {}, resolved: 1 });
  expect((await one()).note).toBe(
    `closed by run ${summary.run}: no webhook is expected any more (receiver.enabled: false)`,
  );
  const back = await nightOf(ledger, { at: 5 * hour, rows: list, receives });
  expect(back.kinds).toEqual(['webhook_missing R-1']);
});
