import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type List, type Order, readBooks, type Transfer } from './books.ts';

/** An order of 100.00 that went through these states, in order; `*` before a state: it was ordered again. */
function order(reference: string, path: string, more: Partial<Order> = {}): Order {
  const moves = path.split(' ').map((state, i) => ({
    ...{ entry: i + 1, event: state.startsWith('*') ? 'retry' : state === 'sending' ? 'intent' : 'moved' },
    ...{ state: state.replace('*', ''), fee: state === 'success' ? '53.755' : null },
  }));
  return {
    ...{
      reference,
      currency: 'NGN',
      amount: 10_000n,
      moves,
      transferId: null,
      sentAt: 0,
      byPerson: false,
      elsewhere: false,
    },
    ...more,
  };
}
const row = (reference: string, status: string, more: Partial<Transfer> = {}): Transfer => ({
  ...{ id: `T-${reference}`, reference, currency: 'NGN', amount: 10_000n, status },
  ...more,
});
const paid = 'ready sending pending success';
const read = (orders: Order[], rows: Transfer[], list: Partial<List> = {}) => {
  const period = { from: 0, through: 99, known: 99, counted: new Set<string>() };
  const books = readBooks(orders, { usable: true, rows, readAt: 1000, graceMs: 100, ...list }, period);
  const ngn = books.statements.get('NGN');
  const told = Object.entries(ngn?.lines ?? {}).filter(
    ([, { count, amount }]) => count !== 0 || amount !== 0n,
  );
  const sums = Object.fromEntries(told.map(([line, { count, amount }]) => [line, `${count}: ${amount}`]));
  return { ...books, sums, ngn };
};
const plain = ['submitted', 'settled', 'net_paid', 'fees', 'listed_by_service'];
/** The lines that differ, beside what was paid. */
const differing = (orders: Order[], rows: Transfer[], list: Partial<List> = {}) => {
  const sums = Object.entries(read(orders, rows, list).sums);
  return Object.fromEntries(sums.filter(([line]) => !plain.includes(line)));
};

it('P30: what was paid and is listed ties to nothing, with its fee rounded once', () => {
  const both = [order('R-1', paid), order('R-2', paid)];
  const { sums, verdict, ngn } = read(both, [row('r-1', 'success'), row('R-2', 'pending')]);
  expect(sums).toEqual({
    ...{ submitted: '2: 20000', settled: '2: 20000', net_paid: '2: 20000', listed_by_service: '2: 20000' },
    fees: '2: 10751',
  });
  expect({ verdict, difference: ngn?.difference }).toEqual({ verdict: 'reconciled', difference: 0n });
});

it.each([
  ['not listed', paid, [], { unseen: '1: 10000' }],
  [
    'listed twice',
    paid,
    [row('R', 'success'), row('R', 'success', { id: 'T2' })],
    { duplicates: '1: 10000' },
  ],
  ['listed as failed', paid, [row('R', 'failed')], { status_conflicts: '1: -10000' }],
  ['listed for less', paid, [row('R', 'success', { amount: 9_000n })], { amount_differences: '1: -1000' }],
  [
    'unreadable',
    paid,
    [row('R', 'success', { amount: null })],
    { unreadable: '1: 0', unexplained: '1: -10000' },
  ],
  ['beside a stranger', paid, [row('R', 'success'), row('X', 'success')], { foreign: '1: 10000' }],
])('P35: what is paid here and %s is an exception', (_, path, rows, lines) => {
  expect(differing([order('R', path)], rows)).toEqual(lines);
  const { verdict, findings } = read([order('R', path)], rows);
  expect({ verdict, found: findings.length > 0 }).toEqual({ verdict: 'exceptions', found: true });
});

it('P36: what came back here and failed there agrees; what is shown as paid again is a conflict without a sum', () => {
  const back = order('R', `${paid} returned`);
  const agreed = read([back], [row('R', 'failed')]);
  expect(agreed.verdict).toBe('reconciled');
  expect(agreed.sums).toMatchObject({ returned: '1: 10000', returns: '1: -10000' });
  expect(read([back], [row('R', 'success')])).toMatchObject({
    verdict: 'exceptions',
    findings: [{ line: 'open_conflicts', reference: 'R' }],
  });
});

it('P17: what is paid here and came back there is a conflict without a sum', () => {
  const again = order('R', 'ready sending unknown *ready sending pending success');
  expect(read([again], [row('R', 'reversed')])).toMatchObject({
    ...{ verdict: 'exceptions', sums: { open_conflicts: '1: 0' } },
    findings: [
      { line: 'open_conflicts', reference: 'R', kinds: expect.arrayContaining(['status_conflict']) },
    ],
  });
  const once = order('R', 'ready sending ready sending pending success');
  expect(read([once], [row('R', 'reversed')]).sums).not.toHaveProperty('open_conflicts');
  expect(read([again], [row('R', 'reversed'), row('R', 'success', { id: 'T2' })]).sums).not.toHaveProperty(
    'open_conflicts',
  );
});

it('P30: a retry that waits is still unknown, and what is never sent takes no money', () => {
  expect(differing([order('R', 'ready sending unknown *ready')], [row('R', 'pending')])).toEqual({
    ...{ closing: '1: 10000', unknown: '1: 10000' },
  });
  expect(differing([order('R', 'ready cancelled')], [row('R', 'success')])).toEqual({
    collisions: '1: 10000',
  });
});

it('P28: what is inside its grace, or failed there while open here, is timing', () => {
  const young = order('R', paid, { sentAt: 950 });
  expect(differing([young], [])).toEqual({ timing: '1: -10000' });
  expect(differing([order('R', 'ready sending pending')], [row('R', 'failed')])).toMatchObject({
    timing: '1: -10000',
  });
});

it('P32: what a person calls paid and nobody sent is paid elsewhere; what was sent stays unseen', () => {
  const closed = order('R', 'ready success', { byPerson: true, sentAt: null });
  expect(differing([closed], [])).toEqual({ paid_elsewhere: '1: -10000' });
  expect(differing([{ ...closed, sentAt: 0 }], [])).toEqual({ unseen: '1: 10000' });
});

it('P31: what went to another account is unseen, and nobody can say that this one lacks it', () => {
  const [here, there] = [order('R', paid), order('R', paid, { elsewhere: true })].map(
    (one) => read([one], []).findings,
  );
  expect(here).toMatchObject([
    { line: 'unseen', kinds: ['missing_at_service', 'unknown_outcome', 'stale_pending'] },
  ]);
  expect(there).toMatchObject([{ line: 'unseen', kinds: [] }]);
});

it('P35: without a usable list nothing is compared, and without money there is nothing to state', () => {
  expect(read([order('R', paid)], [], { usable: false }).verdict).toBe('not_compared');
  expect(read([order('R', 'ready')], []).verdict).toBe('none');
});

it('P30: no list need show what a month left unknown, and what is proven not sent since', () => {
  const period = { from: 3, through: 99, known: 99, counted: new Set<string>() };
  const list = { usable: true, rows: [], readAt: 1000, graceMs: 0 };
  const proven = readBooks([order('R', 'ready sending unknown *ready cancelled')], list, period);
  expect(proven).toMatchObject({ verdict: 'reconciled', findings: [] });
  const shown = readBooks(
    [order('R', 'ready sending unknown *ready cancelled')],
    { ...list, rows: [row('R', 'success')] },
    period,
  );
  expect(shown.statements.get('NGN')?.lines).toMatchObject({
    status_conflicts: { count: 1, amount: 10_000n },
  });
});

it('P30: a month that counted a transfer leaves it in timing, and a difference in its own line', () => {
  const period = { from: 4, through: 99, known: 99, counted: new Set(['T-R']) };
  const list = { usable: true, rows: [row('R', 'success')], readAt: 1000, graceMs: 0 };
  const quiet = readBooks([order('R', paid)], list, period);
  expect(quiet.verdict).toBe('reconciled');
  const later = readBooks([order('R', paid)], { ...list, rows: [row('R', 'failed')] }, period);
  expect(later.verdict).toBe('exceptions');
  expect(later.statements.get('NGN')?.lines).toMatchObject({
    ...{ status_conflicts: { count: 1, amount: -10_000n }, timing: { count: 1, amount: 10_000n } },
  });
});

it('imports nothing of the program, and is one file of under 400 lines', () => {
  const text = readFileSync(new URL('books.ts', import.meta.url), 'utf8');
  expect(text).not.toMatch(/^import|\bimport\(/m);
  expect(text.split('\n').length).toBeLessThan(400);
});
