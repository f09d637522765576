import { expect, it } from 'vitest';
import type { Move } from '../../src/books/book.ts';
import { createStatement } from '../../src/books/statement/statement.ts';
import {
  foreignEntries,
  payoutEntries,
  placeInBooks,
  strangerEntries,
} from '../../src/books/statement/statement-rows.ts';
import type { ListedPart, PayoutFacts } from '../../src/books/statement-facts.sql.ts';
import { frozenWords } from '../../src/words/frozen-words.ts';
import { at } from '../support/ledger.ts';

const said = { show: (one: string) => one, words: frozenWords };

const payout = {
  id: 1n,
  reference: 'R-1',
  batch_id: 'b',
  row_number: 2n,
  account_number: '0123456789',
  account_name: 'ADA OBI',
  bank_code: '058',
  amount: 150_000n,
  currency: 'NGN',
  transfer_id: 'T-1',
  trx: null,
  fee: null,
  submitted_at: at(0),
  settled_at: null,
  evidence: 'response',
};
const shown: ListedPart = {
  transfer_id: 'T-1',
  reference: 'R-1',
  currency: 'NGN',
  amount: 150_000n,
  amount_text: '1500.00',
  account_number: '0123456789',
  bank_code: '058',
  domain: 'test',
  status: 'success',
  created_at: at(0),
  counted: false,
  collides: false,
  others: false,
};
const listing = {
  run: 'r',
  base: null,
  startedAt: at(0),
  mark: 15n,
  standing: 'complete' as const,
  endedBy: at(5),
  stampsUntil: at(9),
};

/** The lines of one payout that was accepted and then settled, or failed, in a span that begins after entry `from`. */
function linesOf(end: 'success' | 'failed', from: bigint, ...listed: Partial<ListedPart>[]): string[] {
  const moves: PayoutFacts['moves'] = [
    { id: 1n, at: at(0), event: 'intent', to: 'sending', fee: null },
    { id: 2n, at: at(1), event: 'accepted', to: 'pending', fee: null },
    { id: 10n, at: at(2), event: `details says ${end}`, to: end, fee: null },
  ];
  const facts = { payout, moves, listed: listed.map((one) => ({ ...shown, ...one })) };
  const span = { from, through: 20n };
  const scope = { mode: 'test' as const, span, known: 20n, listing, since: at(0), until: null };
  const about = { ...scope, ...said };
  return [...payoutEntries(facts, about), ...strangerEntries(facts, about)]
    .filter(({ line }) =>
      ['listed_by_service', 'foreign', 'amount_differences', 'timing', 'unexplained', 'unreadable'].includes(
        line,
      ),
    )
    .map(({ line, currency, amount }) => `${line} ${currency} ${amount}`);
}

it.each([
  [{ amount: 160_000n, amount_text: '1600.00' }, ['NGN 160000', 'timing NGN 150000', 'NGN 10000']],
  [{ currency: 'ZAR' }, ['ZAR 150000', 'timing NGN 150000', 'NGN -150000', 'amount_differences ZAR 150000']],
])('P30: sent in a closed month and listed only since with %o, it is late and differs', (listed, told) => {
  const [service, timing, difference, ...more] = told;
  expect(linesOf('success', 5n, listed)).toEqual([
    `listed_by_service ${service}`,
    `amount_differences ${difference}`,
    ...more,
    timing,
  ]);
});

it('P35: an amount that nobody can read is no amount: ours stays unexplained, and is listed beside all sums', () => {
  const unread = { amount: null, amount_text: '1,500' };
  const counted = 'timing NGN 150000';
  expect(linesOf('success', 5n, unread)).toEqual(['unreadable NGN 0', 'unexplained NGN -150000', counted]);
  expect(linesOf('success', 0n, unread)).toEqual(['unreadable NGN 0', 'unexplained NGN -150000']);
});

it('P30: sent in a closed month and listed only since as ordered, it is late and no more', () => {
  expect(linesOf('success', 5n, {})).toEqual(['listed_by_service NGN 150000', 'timing NGN 150000']);
});

it('P30: a stranger’s transfer with the number that we were answered is foreign, and ours is as ordered', () => {
  const ours = { ...shown, transfer_id: '900' };
  const stranger = { ...shown, reference: 'OTHER', amount: 7700n, amount_text: '77.00' };
  const ties = ['listed_by_service NGN 150000', 'timing NGN 150000'];
  const since = { ...stranger, created_at: at(-1) };
  expect(linesOf('success', 5n, ours, stranger)).toEqual([
    ...ties,
    'listed_by_service NGN 7700',
    'foreign NGN 7700',
  ]);
  expect(linesOf('success', 5n, ours, since), 'older than all of ours').toEqual(ties);
});

it('P30: a failed transfer is no money, however the list writes the word', () => {
  expect(linesOf('failed', 0n, { status: 'Failed ' })).toEqual([]);
  expect(foreignEntries({ ...shown, status: ' FAILED' })).toEqual([]);
});

/** The sums of a statement over one payout that moved so; each entry at its own hour. */
function sumsOf(moves: readonly (readonly [event: string, to: Move['to']])[]): Record<string, string> {
  const facts: PayoutFacts = {
    payout,
    moves: moves.map(([event, to], i) => ({ id: BigInt(i + 1), at: at(i), event, to, fee: null })),
    listed: [],
  };
  const scope = { mode: 'test' as const, span: { from: 0n, through: 20n }, known: 20n, listing };
  const statement = createStatement();
  for (const entry of payoutEntries(facts, {
    ...scope,
    since: at(0),
    until: null,
    ...said,
  }))
    statement.add(entry);
  const { rows } = statement.conclude(null);
  return Object.fromEntries(rows.map(({ line, amount }) => [line, amount]));
}

it('P30: what a person settled and evidence reopened is not paid for good any more', () => {
  const settled = [
    ['intent', 'sending'],
    ['unknown', 'unknown'],
    ['settle', 'success'],
  ] as const;
  expect(sumsOf(settled)).toMatchObject({ net_paid: '1500.00' });
  expect(sumsOf([...settled, ['reopened', 'unknown']])).toMatchObject({
    settled: '1500.00',
    reopened: '1500.00',
    net_paid: '0.00',
  });
  const refused = [
    ['intent', 'sending'],
    ['refused', 'refused'],
    ['details says pending', 'pending'],
    ['details says success', 'success'],
  ] as const;
  expect(sumsOf(refused)).toMatchObject({ reopened: '1500.00', net_paid: '1500.00' });
});

it('P35: without a usable list nothing of ours is called unseen', () => {
  const moves: PayoutFacts['moves'] = [
    { id: 1n, at: at(1), event: 'intent', to: 'sending', fee: null },
    { id: 2n, at: at(1), event: 'accepted', to: 'pending', fee: null },
  ];
  const scope = { mode: 'test' as const, span: { from: 0n, through: 20n }, known: 20n, since: at(0) };
  const linesUnder = (used: Parameters<typeof payoutEntries>[1]['listing']) =>
    payoutEntries({ payout, moves, listed: [] }, { ...scope, listing: used, until: null, ...said }).flatMap(
      ({ line, amount }) => (line === 'unseen' || line === 'timing' ? [`${line} ${amount}`] : []),
    );
  expect(linesUnder(listing)).toEqual(['unseen 150000']);
  expect(linesUnder(null)).toEqual(['timing -150000']);
  for (const standing of ['unread', 'incomplete', 'not_ours', 'shows_none'] as const) {
    const unusable = { ...listing, standing };
    expect(linesUnder(unusable), standing).toEqual(['timing -150000']);
    const about = {
      ...scope,
      listing: unusable,
      until: null,
      ...said,
    };
    expect(placeInBooks({ payout, moves, listed: [] }, about).late, standing).toBe(true);
  }
});

it('P33: what a clock far ahead stamped is not too young to be missed', () => {
  const stamped = (hours: number): Record<string, string> => {
    const scope = { mode: 'test' as const, span: { from: 0n, through: 20n }, known: 20n, listing };
    const moves: PayoutFacts['moves'] = [
      { id: 1n, at: at(hours), event: 'intent', to: 'sending', fee: null },
      { id: 2n, at: at(hours), event: 'accepted', to: 'pending', fee: null },
    ];
    const about = {
      ...scope,
      since: at(0),
      until: null,
      ...said,
    };
    const lines = payoutEntries({ payout, moves, listed: [] }, about).map(({ line }) => [line, '']);
    return Object.fromEntries(lines);
  };
  expect(stamped(7), 'within its grace').toHaveProperty('timing');
  expect(stamped(20), 'stamped by a wrong clock').toHaveProperty('unseen');
});

it('P35: a payout that was never sent and that a person settled as paid is paid elsewhere, and not missing on the list', () => {
  const settled = { id: 1n, at: at(0), event: 'settle as success', to: 'success' as const, fee: null };
  const facts = {
    payout: { ...payout, submitted_at: null, evidence: 'person' },
    moves: [settled],
    listed: [],
  };
  const span = { from: 0n, through: 20n };
  const scope = { mode: 'test' as const, span, known: 20n, listing, since: at(0), until: null };
  const entries = payoutEntries(facts, { ...scope, ...said });
  expect(entries.some(({ line }) => line === 'unseen')).toBe(false);
  expect(entries.find(({ line }) => line === 'paid_elsewhere')?.why).toBe(
    'never sent, settled as paid by a person, and the list does not show it; the list is complete',
  );
});
