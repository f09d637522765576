import { afterEach, beforeEach, expect, it } from 'vitest';
import { listOpen } from '../../../src/books/discrepancies/discrepancies.sql.ts';
import { listedRow } from '../../support/listed-row.ts';
import { closeBooks, ledger, openBooks, payout, reconcile, stateOf } from './books.ts';

beforeEach(openBooks);
afterEach(closeBooks);

it('P14: an agreeing row of the list makes a pending payout final, once', async () => {
  const id = await payout(1);
  const first = await reconcile([listedRow(1)]);
  expect(await stateOf(id)).toEqual({ state: 'success', evidence: 'response+listing' });
  expect(first.summary).toMatchObject({
    complete: true,
    listed: 1,
    matched: 1,
    lookups: 0,
    discrepancies: { open: {}, opened: 0 },
  });
  await reconcile([listedRow(1)]);
  expect(await ledger.db.selectFrom('history').selectAll().execute()).toHaveLength(1);
});

it('one night finds exactly what was planted, and asks for look-ups of just the open ones', async () => {
  await payout(1);
  await payout(2);
  const gone = await payout(3);
  await payout(4, { state: 'failed', evidence: 'response+details' });
  const lost = await payout(5, { state: 'unknown', outcome: 'unknown', evidence: '' });
  await payout(6, { state: 'unknown', outcome: 'unknown', evidence: '' });
  await payout(7, { state: 'returned', evidence: 'listing' });
  const night = await reconcile([
    listedRow(1),
    listedRow(2, { amount: '9.00' }),
    listedRow(4),
    listedRow(6, { amount: '11.00' }),
    listedRow(7, { status: 'refunded' }),
    listedRow(88),
    listedRow(89, { created_at: '2026-11-01T00:00:00Z' }),
  ]);
  expect(night.kinds).toEqual([
    'amount_conflict ACME-2',
    'missing_at_service ACME-3',
    'missing_in_ledger transfer:88',
    'reference_collision ACME-6',
    'returned_after_success ACME-7',
    'status_conflict ACME-4',
    'unknown_outcome ACME-5',
    'unknown_outcome ACME-6',
    'webhook_missing ACME-4',
  ]);
  expect(night.open.find((one) => one.kind === 'amount_conflict')).toMatchObject({
    difference: '-1.00',
    expected: '10.00',
  });
  expect(night.open.find((one) => one.subject === 'ACME-5')?.action).toContain(
    'before 2026-11-22T10:00:01.000Z',
  );
  expect(night.asked.lookUps).toEqual(expect.arrayContaining([gone, lost]));
  expect(night.summary.lookups).toBe(4);
});

it('missing_at_service needs a complete listing, the grace passed and a look-up that does not find it', async () => {
  await payout(3);
  expect((await reconcile([], { complete: false })).kinds).toEqual([]);
  expect((await reconcile([], { followUp: false })).kinds).toEqual([]);
  expect((await reconcile([], { word: 'no_answer' })).kinds).toEqual([]);
  expect((await reconcile([], { yaml: '{ missing_grace_minutes: 120 }' })).kinds).toEqual([]);
  expect((await reconcile([], { yaml: '{ missing_grace_minutes: 0 }' })).kinds).toEqual([
    'missing_at_service ACME-3',
  ]);
});

it('missing_at_service stays open while its look-up gets no answer: silence closes nothing', async () => {
  await payout(3);
  expect((await reconcile([])).kinds).toEqual(['missing_at_service ACME-3']);
  const silent = await reconcile([], { word: 'no_answer' });
  expect(silent.kinds).toEqual(['missing_at_service ACME-3']);
  expect(silent.summary.discrepancies.resolved).toBe(0);
});

it('a discrepancy keeps its id, closes by evidence, says what closed it, and opens again', async () => {
  await payout(2);
  const [first] = (await reconcile([listedRow(2, { amount: '9.00' })])).open;
  const again = await reconcile([listedRow(2, { amount: '9.00' })]);
  expect(again.open).toMatchObject([{ id: first?.id, first_seen_at: first?.first_seen_at }]);
  expect(again.summary.discrepancies).toMatchObject({ opened: 0, resolved: 0 });
  const healed = await reconcile([listedRow(2)]);
  expect(healed.summary.discrepancies).toMatchObject({ resolved: 1, open: {} });
  const [closed] = await listOpen(ledger.db, { states: ['resolved'] });
  expect(closed).toMatchObject({
    resolved_by: 'evidence',
    note: `closed by evidence of run ${healed.summary.run}; listed as transfer 2, success 10.00 NGN; ledger: success by response+listing`,
  });
  const back = await reconcile([listedRow(2, { amount: '9.00' })]);
  expect(back.summary.discrepancies).toMatchObject({ opened: 1 });
});

it('a run that could not see them closes no missing and no duplicate', async () => {
  await payout(2);
  await payout(3);
  await reconcile([listedRow(2), listedRow(22, { reference: 'ACME-2' })]);
  const blind = await reconcile([listedRow(2)], { complete: false });
  expect(blind.kinds).toEqual(['duplicate_at_service ACME-2', 'missing_at_service ACME-3']);
  expect((await reconcile([listedRow(2), listedRow(3)])).kinds).toEqual([]);
});

it('webhook_missing at grace 0 is reported by the run that first sees the final state, and a resend is asked', async () => {
  const id = await payout(1);
  const night = await reconcile([listedRow(1)], { yaml: '{ webhook_grace_minutes: 0 }' });
  expect(night.kinds).toEqual(['webhook_missing ACME-1']);
  expect(night.asked.resends).toEqual([id]);
});

it('stale_pending at 0 hours is reported at once, but not for what is missing', async () => {
  await payout(1);
  await payout(3);
  const night = await reconcile([listedRow(1, { status: 'pending' })], {
    yaml: '{ stale_pending_hours: 0 }',
  });
  expect(night.kinds).toEqual(['missing_at_service ACME-3', 'stale_pending ACME-1']);
});

it('a listed row under the service’s own reference is paired by its transfer id', async () => {
  await payout(1);
  const night = await reconcile([listedRow(1, { reference: 'SERVICE-OWN' })]);
  expect(night.summary.matched).toBe(1);
  expect(night.kinds).toEqual([]);
});
