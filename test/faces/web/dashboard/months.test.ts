import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { addPeriodRows, insertPeriod } from '../../../../src/books/periods.sql.ts';
import { placedFrom } from '../../../../src/books/run-sheets.sql.ts';
import type { PayoutState } from '../../../../src/core/domain/payout.ts';
import { newestHistory } from '../../../../src/core/ledger/history.ts';
import type { Ledger } from '../../../../src/core/storage/ledger.ts';
import { systemClock } from '../../../support/clock.ts';
import { addBatch, at, claimAt, recordOutcome, replies } from '../../../support/ledger.ts';
import { addDiscrepancy, addRun, startDashboard, textOf } from './support.ts';

const mainOf = (body: string): string => textOf(/<main.*<\/main>/s.exec(body)?.[0] ?? '');

/** A dashboard on the 2nd of December, over a ledger that was born in November. */
async function inDecember(over: Parameters<typeof startDashboard>[0] = {}) {
  const iso = (): string => '2026-12-02T08:00:00.000Z';
  const clock = { ...systemClock(), iso, now: () => Date.parse(iso()) };
  return startDashboard({ clock, ...over });
}

/** Moves a payout on in its history, as a look-up does. */
async function goOn({ db }: Ledger, reference: string, from: PayoutState, to: PayoutState): Promise<void> {
  const { id } = await db
    .selectFrom('payouts')
    .select('id')
    .where('reference', '=', reference)
    .executeTakeFirstOrThrow();
  const newest = await newestHistory(db);
  const { seq } = await db
    .selectFrom('history')
    .select('seq')
    .where('payout_id', '=', id)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  const moved = { event: 'looked_up' as const, source: 'test', from_state: from, to_state: to };
  const hashed = { detail: '{}', prev_hash: '', hash: '' };
  await db
    .insertInto('history')
    .values({ id: newest + 1n, payout_id: id, seq: seq + 1n, at: at(60_000), ...moved, ...hashed })
    .execute();
  await db.updateTable('payouts').set({ state: to }).where('id', '=', id).execute();
}

/** Two payouts of November that were paid; one of them turned out not to be. */
async function liveThroughNovember(ledger: Ledger): Promise<void> {
  await addBatch(ledger, ['A-1', 'A-2', 'A-3']);
  for (const claim of await claimAt(ledger, at(1), 3))
    await recordOutcome(ledger, at(2), claim, replies.accepted());
  for (const reference of ['A-1', 'A-2', 'A-3']) await goOn(ledger, reference, 'pending', 'success');
  await goOn(ledger, 'A-3', 'success', 'failed');
}

it('shows what was paid in a month and still was at its end, who approved, and what is open', async () => {
  const { ledger, as, ask } = await inDecember();
  await liveThroughNovember(ledger);
  await addDiscrepancy(ledger, { kind: 'amount_conflict', payoutId: 1n, reference: 'A-1' });
  await ledger.db
    .insertInto('approvals')
    .values({
      ...{ batch_id: 'b-1', bodies: '', digest: 'd', through_id: 3n, row_count: 3n },
      ...{ totals: '{"NGN":"4500.00"}', approved_by: 'bola', approved_at: at(5) },
    })
    .execute();
  expect(mainOf((await as('ada', '/months')).body)).toMatch(
    /December 2026 open – November 2026 over, not closed/,
  );
  const month = mainOf((await as('ada', '/months/2026-11')).body);
  expect(month).toMatch(
    /Total Currency Paid payouts Payees Amount Fees of these payments NGN 2 1 3,000\.00 0\.00/,
  );
  expect(month).toContain('Amount conflict : 1');
  expect(month).toMatch(/b-1 ada bola .* 3 NGN 4,500\.00/);
  // What came back is not paid, and stands by itself.
  const paid = month.slice(month.indexOf('Known as paid'));
  expect(['A-1', 'A-2', 'A-3'].map((name) => paid.includes(name))).toEqual([true, true, false]);
  expect(month).toMatch(/Not paid, and not paid again .* A-3 /);
  expect(month).toMatch(
    /November 2026, not closed Prepared by \(name\) Signature Date Reviewed by \(name\) Signature Date/,
  );
  const csv = await as('ada', '/months/2026-11/paid.csv');
  expect(csv.body.split('\r\n').filter((line) => line.includes('A-'))).toHaveLength(2);
  expect(csv.headers['content-disposition']).toContain('paid-2026-11.csv');
  const stranger = (await ask('/months/2026-11')).body;
  expect([stranger.includes('ADA OBI'), stranger.includes('0123456789')]).toEqual([false, false]);
  expect((await ask('/months/2026-11/paid.csv')).status).toBe(401);
  for (const none of ['2026-10', '2027-01', 'x'])
    expect((await as('ada', `/months/${none}`)).status).toBe(404);
});

it('adds up the reported fees of an open month, in all and by department', async () => {
  const { ledger, as } = await inDecember();
  await liveThroughNovember(ledger);
  await ledger.db.updateTable('batches').set({ columns: '["reference","Department"]' }).execute();
  await ledger.db.updateTable('payouts').set({ cells: '["A","Ops"]', fee: '25.125' }).execute();
  await ledger.db
    .updateTable('payouts')
    .set({ cells: '["A","Sales"]', fee: null })
    .where('reference', '=', 'A-2')
    .execute();
  const month = mainOf((await as('ada', '/months/2026-11')).body);
  expect(month).toMatch(/Fees of these payments NGN 2 1 3,000\.00 25\.13 /);
  expect(month).toMatch(
    /Paid by Department Department Payouts Paid Fees of these payments Ops 1 NGN 1,500\.00 NGN 25\.13 Sales 1 NGN 1,500\.00 NGN 0\.00/,
  );
  const csv = (await as('ada', '/months/2026-11/totals-by-column.csv')).body;
  expect(csv).toContain('Department,Ops,NGN,1,1500.00,25.13');
});

it('adds up a month of more than ten thousand payments without being asked', {
  timeout: 30_000,
}, async () => {
  const { ledger, as } = await inDecember();
  const references = Array.from({ length: 10_001 }, (_, n) => `N-${n}`);
  await addBatch(ledger, references, { state: 'success' });
  const paid = { event: 'looked_up', from: 'pending', to: 'success' };
  await sql`insert into history (payout_id, seq, at, event, source, from_state, to_state, detail, prev_hash, hash)
    select id, 2, ${at(60_000)}, ${paid.event}, 'test', ${paid.from}, ${paid.to}, '{}', '', '' from payouts`.execute(
    ledger.db,
  );
  expect(mainOf((await as('ada', '/months/2026-11')).body)).toMatch(
    /Total Currency Paid payouts Payees Amount Fees of these payments NGN 10,001 1 15,001,500\.00 0\.00/,
  );
});

it('says as open in a month only what failed since the last close, as the first page does', async () => {
  const { ledger, as, post } = await inDecember();
  await addBatch(ledger, ['F-1', 'F-2'], { state: 'failed' });
  const unpaid = /2 payouts (\S+ )?failed ?, and not paid again: NGN 3,000\.00/;
  expect(mainOf((await as('ada', '/months/2026-11')).body)).toMatch(unpaid);
  await post('ada', '/months/2026-11/close', { sure: 'yes' });
  const december = mainOf((await as('ada', '/months/2026-12')).body);
  expect(december).toContain('No payout waits or is under way, and no discrepancy is open.');
  expect(december).not.toContain('failed');
});

it('P30: says of a month that is over only what its close would end, and nothing of the next one', async () => {
  const { ledger, as, post } = await inDecember();
  await addBatch(ledger, ['F-1'], { state: 'failed' });
  await addBatch(ledger, ['D-1', 'D-2'], { id: 'b-2', state: 'failed' });
  const december = { created_at: '2026-12-01T12:00:00.000Z' };
  await ledger.db.updateTable('batches').set(december).where('id', '=', 'b-2').execute();
  for (const path of ['/months/2026-11', '/months/2026-11/close']) {
    const page = mainOf((await as('ada', path)).body);
    expect(page, path).toMatch(/1 payout (\S+ )?failed ?, and not paid again: NGN 1,500\.00/);
    expect(page, path).not.toContain('D-1');
  }
  expect(mainOf((await as('ada', '/months/2026-12')).body)).toMatch(/3 payouts .* D-2 .* D-1 .* F-1 /);
  const done = textOf((await post('ada', '/months/2026-11/close', { sure: 'yes' })).body);
  expect(done).toMatch(/1 \(NGN 1,?500\.00\) (\S+ )?failed ?, and not paid again/);
  expect(mainOf((await as('ada', '/months/2026-12')).body)).toMatch(/2 payouts .* D-2 .* D-1 /);
});

it('P30: says before a close that its list is older than the end of the month', async () => {
  const { ledger, as, post } = await inDecember();
  await liveThroughNovember(ledger);
  await addRun(ledger);
  const old = 'newest complete list. It was read before the month ended: 21 Nov 2026 11:00';
  for (const path of ['/months/2026-11', '/months/2026-11/close'])
    expect(mainOf((await as('ada', path)).body), path).toContain(old);
  expect(mainOf((await as('ada', '/months/2026-12')).body)).not.toContain('complete list');
  const done = textOf((await post('ada', '/months/2026-11/close', { sure: 'yes' })).body);
  expect(done).toContain('In spite of this: the newest complete list is of 21 Nov 11:00, before');
});

it('P30: says before a close what its statement will show as not resolved', async () => {
  const { ledger, as, post } = await inDecember();
  await addBatch(ledger, ['U-1'], { state: 'unknown' });
  await goOn(ledger, 'U-1', 'sending', 'unknown');
  const line = 'unknown when the month ended: they may be paid';
  const page = mainOf((await as('ada', '/months/2026-11/close')).body);
  expect(page).toContain('What the statement will show');
  expect(page).toContain(line);
  expect(textOf((await post('ada', '/months/2026-11/close', { sure: 'yes' })).body)).toContain(line);
});

it('P30: closes the month on a page that says what is open, and shows frozen figures from then on', async () => {
  const { ledger, as, post } = await inDecember();
  await liveThroughNovember(ledger);
  const early = await as('ada', '/months/2026-12/close');
  const from = '2026-12 is not over: it can be closed from 2027-01-01 on (Africa/Lagos).';
  expect([early.status, textOf(early.body).includes(from)]).toEqual([409, true]);
  const december = mainOf((await as('ada', '/months/2026-12')).body);
  expect(december).toMatch(/The month goes on up to 1 Jan 2027,? 0?0:00/);
  expect(december).toContain(from);
  const page = mainOf((await as('ada', '/months/2026-11/close')).body);
  expect(page).toContain('Nothing was compared with the service yet');
  expect((await post('ada', '/months/2026-11/close')).status).toBe(422);
  expect((await as('ada', '/months')).body).not.toContain('closed by');
  const done = textOf((await post('ada', '/months/2026-11/close', { sure: 'yes' })).body);
  expect(done).toContain('November 2026 is closed');
  expect(done).toContain('no complete list was ever read');
  expect(done).not.toContain('counterfoil reconcile');
  const before = mainOf((await as('ada', '/months/2026-11')).body);
  expect(before).toMatch(/closed by|Closed by ada/);
  const rows = (await as('ada', '/months/2026-11/paid.csv')).body;
  await ledger.db.updateTable('payouts').set({ fee: '25.00', transfer_id: '4711' }).execute();
  expect((await as('ada', '/months/2026-11/paid.csv')).body, 'what is learnt later').toBe(rows);
  await goOn(ledger, 'A-2', 'success', 'failed');
  const after = mainOf((await as('ada', '/months/2026-11')).body);
  const frozen = (text: string): string =>
    text.replace(/As of .*/, '').replace(/Still not .*? Approvals/, '');
  expect(frozen(after)).toBe(frozen(before));
  expect(after).toMatch(/Still not paid today .* A-3 .* A-2 .* Approvals/);
  expect(after).toContain('A-2');
  expect((await post('ada', '/months/2026-11/close', { sure: 'yes' })).status).toBe(409);
});

it('P30: a closed month shows its totals by department, what was open at its close, and who dropped and approved', async () => {
  const { ledger, as, post } = await inDecember();
  await liveThroughNovember(ledger);
  // Somebody is at work on it: it is not resolved by that.
  const id = await addDiscrepancy(ledger, { kind: 'amount_conflict', payoutId: 1n, reference: 'A-1' });
  await post('ada', '/discrepancies/acknowledge', { id });
  await ledger.db
    .updateTable('batches')
    .set({ columns: '["reference","Department"]', dropped_by: 'dayo' })
    .execute();
  await ledger.db.updateTable('payouts').set({ cells: '["A","Ops"]' }).execute();
  await ledger.db
    .insertInto('approvals')
    .values({
      ...{ batch_id: 'b-1', bodies: '', digest: 'd', through_id: 3n, row_count: 3n },
      ...{ totals: '{"NGN":"4500.00","ZAR":"1.00"}', approved_by: 'bola', approved_at: at(5) },
    })
    .execute();
  await post('ada', '/months/2026-11/close', { sure: 'yes' });
  const month = async (): Promise<string> => mainOf((await as('ada', '/months/2026-11')).body);
  const before = await month();
  expect(before).toMatch(/Total Currency .* NGN 2 1 3,000\.00 – 3,000\.00 0\.00 not compared/);
  expect(before).toContain('Discrepancies of any month that were not resolved: Amount conflict: 1.');
  expect(before).toMatch(/Paid by Department .* Ops 2 NGN 3,000\.00/);
  expect(before).toMatch(/b-1 dayo bola .* 3 NGN 4,500\.00 ZAR 1\.00/);
  const csv = async (): Promise<string> => (await as('ada', '/months/2026-11/totals-by-column.csv')).body;
  const totals = await csv();
  expect(totals).toContain('Department,Ops,NGN,2,3000.00,0.00');
  await addDiscrepancy(ledger, { kind: 'fee_conflict', payoutId: 2n, reference: 'A-2' });
  await ledger.db.updateTable('payouts').set({ cells: '["A","Sales"]' }).execute();
  expect((await month()).replace(/As of .*/, '')).toBe(before.replace(/As of .*/, ''));
  expect(await csv()).toBe(totals);
});

it('P30: still shows a month that an older version closed, which froze no more than its statement', async () => {
  const { ledger, as } = await inDecember();
  await liveThroughNovember(ledger);
  const through = await newestHistory(ledger.db);
  await ledger.write(async (trx) => {
    const rows = [
      ['currency', 'line', 'count', 'amount', 'verdict'],
      ['NGN', 'settled', '2', '3000.00', 'not_compared'],
      ['NGN', 'net_paid', '2', '3000.00', 'not_compared'],
    ];
    await addPeriodRows(trx, { month: '2026-11' }, 'statement', placedFrom(0, rows));
    await insertPeriod(trx, {
      ...{ month: '2026-11', starts_at: '2026-10-31T23:00:00.000Z', ends_at: '2026-11-30T23:00:00.000Z' },
      ...{ timezone: 'Africa/Lagos', from_history: 0n, through_history: through },
      ...{ closed_at: '2026-12-01T08:00:00.000Z', closed_by: 'ada', run_id: null },
    });
  });
  const { status, body } = await as('ada', '/months/2026-11');
  expect(status).toBe(200);
  expect(mainOf(body)).toContain('It did not keep which discrepancies were open.');
  expect(mainOf(body)).toMatch(/NGN 2 1 3,000\.00 – 3,000\.00/);
});

it('says how many paid rows stand on the page, and has a page for paper with up to 2,000', async () => {
  const { ledger, as } = await inDecember();
  const references = Array.from({ length: 60 }, (_, n) => `P-${n}`);
  await addBatch(ledger, references);
  for (const claim of await claimAt(ledger, at(1), 60))
    await recordOutcome(ledger, at(2), claim, replies.accepted());
  for (const reference of references) await goOn(ledger, reference, 'pending', 'success');
  const page = (await as('ada', '/months/2026-11')).body;
  expect(mainOf(page)).toContain('50 of 60 paid rows stand on this page; the CSV has all.');
  const paper = (await as('ada', /href="([^"]*rows=all)"/.exec(page)?.[1] ?? '')).body;
  expect(mainOf(paper)).not.toContain('stand on this page');
  for (const reference of references) expect(paper).toContain(`>${reference}<`);
});

it('lets nobody close a month without the role, nor a month that goes on', async () => {
  const { as, post } = await inDecember({ names: ['cy'], roles: { cy: ['read'] } });
  expect((await as('cy', '/months/2026-11/close')).status).toBe(403);
  expect((await post('cy', '/months/2026-11/close', { sure: 'yes' })).status).toBe(403);
  expect((await as('cy', '/months/2026-11')).body).not.toContain('Close this month');
  expect((await post('ada', '/months/2026-12/close', { sure: 'yes' })).status).toBe(409);
});
