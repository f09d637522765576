import { expect, it } from 'vitest';
import { comparisonOf, type PayeeChange } from '../../src/core/ledger/payee-comparisons.ts';
import { listPayees, payeeAfter, payeeCursor } from '../../src/core/ledger/payee-list.ts';
import { amountDifferences } from '../../src/intake/amount-differences.ts';
import { comparePayees } from '../../src/intake/compare-payees.ts';
import { confirmFiles } from '../../src/intake/confirm.ts';
import { batchRows } from '../../src/intake/payees.ts';
import type { PayeeRow } from '../../src/intake/payees-before.ts';
import { approvalDigests } from '../../src/sending/approvals.sql.ts';
import { comparedText } from '../../src/sending/payee-facts.ts';
import { approveVerb, reviewApproval } from '../../src/verbs/approve.ts';
import { holdVerb } from '../../src/verbs/hold.ts';
import { claimAt, recordOutcome, replies } from '../support/ledger.ts';
import { fileOf, firstMonth, type Person, secondMonth } from './payee-months.ts';
import { showAs } from './refused.ts';
import { decisionsOf } from './retry-setting.ts';
import { anyDay, type Setting, setting } from './setting.ts';

const day = 86_400_000;

/** Takes a file in and pays all of it. */
async function pay(s: Setting, name: string, content: string): Promise<string> {
  const taken = await take(s, name, content);
  await s.ledger.write((trx) =>
    trx.updateTable('payouts').set({ state: 'success' }).where('batch_id', '=', taken.batch).execute(),
  );
  return taken.batch;
}

async function take(s: Setting, name: string, content: string) {
  const taken = await s.intake.takeIn(s.drop(name, content), { origin: 'inbox' });
  if (taken.kind !== 'taken') throw new Error(JSON.stringify(taken));
  return taken;
}

const person = (name: string) => ({ name, noted: name, accounts: [{ name, uid: null }] });

it.each([true, false])(
  'P37: names every changed account and nearly nobody else (payee_id: %s)',
  async (ids) => {
    let found = 0;
    let rowsNamed = 0;
    let rows = 0;
    for (let seed = 1; seed <= 12; seed++) {
      const s = await setting();
      const before = firstMonth(seed, 120);
      await pay(s, 'november.csv', fileOf(before, 'N', { ids }));
      s.clock.advance(30 * day);
      const { people, changed } = secondMonth(seed, before, { ids });
      const checked = await s.intake.check(s.drop('december.csv', fileOf(people, 'D', { ids })));
      const named = (checked.compared?.changes ?? [])
        .filter(({ kind }: PayeeChange) => kind === 'account_changed')
        .map(({ row }) => row);
      const missed = [...changed].filter((row) => !named.includes(row));
      expect(missed, `missed with seed ${seed}`).toEqual([]);
      expect(checked.duplicates, 'a monthly salary is no duplicate').toEqual([]);
      expect(checked.holdReasons).toEqual([]);
      found += changed.size;
      rowsNamed += named.filter((row) => !changed.has(row)).length;
      rows += people.length - changed.size;
    }
    expect(found).toBeGreaterThan(50);
    expect(rowsNamed * 100).toBeLessThan(rows);
  },
);

const two: Person[] = [
  { id: 'E1', name: 'Adaeze Okonkwo', account: '0123456785', bank: '058', minor: 25_000_000n },
  { id: 'E2', name: 'Musa Bello', account: '2034567891', bank: '044', minor: 18_000_000n },
];
const moved = two.map((one) => (one.id === 'E2' ? { ...one, account: '2034567892' } : one));

it('says what joined, left and changed, and the totals of both', async () => {
  const s = await setting();
  const batch = await pay(s, 'november.csv', fileOf(two, 'N'));
  const ada = { id: 'E3', name: 'Ada Eze', account: '3034567891', bank: '044', minor: 100n };
  const people = [two[0], ada].filter((one) => one !== undefined);
  const { compared, warnings } = await s.intake.check(s.drop('december.csv', fileOf(people, 'D')));
  expect(compared).toMatchObject({
    ...{ with: batch, day: '2026-11-21', joined: 1, left: 1, accountChanged: 0, nameChanged: 0 },
    totalsBefore: { NGN: '430000.00' },
    totalsNow: { NGN: '250001.00' },
    changes: [],
    people: {
      joined: [{ row: 3, reference: 'D-1', name: 'Ada Eze', account: '3034567891', amount: 'NGN 1.00' }],
      left: [{ row: 3, name: 'Musa Bello', account: '2034567891', amount: 'NGN 180000.00' }],
    },
  });
  expect(warnings.filter((text) => text.includes('payee'))).toEqual([]);
  expect((await s.intake.check(s.drop('other.csv', fileOf([ada], 'O')))).compared, 'no series').toBeNull();
});

it('P20: counts what was paid again once in the total of before', async () => {
  const s = await setting();
  const batch = (await take(s, 'november.csv', fileOf(two, 'N'))).batch;
  await confirmFiles(s, anyDay);
  for (const claimed of await claimAt(s.ledger, s.clock.iso(), 2))
    await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.refused());
  const decisions = decisionsOf(s);
  const ids = (await decisions.find(['N-0'])).payouts.map(({ id }) => id);
  const since = s.clock.iso();
  const { digest } = await decisions.weigh(ids, since);
  expect(await decisions.retry({ ids, since, digest, person: 'femi' })).toMatchObject({
    decided: [{ reference: 'N-0-R2' }],
  });
  s.clock.advance(30 * day);
  const { compared } = await s.intake.check(s.drop('december.csv', fileOf(two, 'D')));
  expect(compared).toMatchObject({ with: batch, totalsBefore: { NGN: '430000.00' } });
});

it('P37: approve_changed holds a batch for a second person, whose approval covers the changes', async () => {
  const s = await setting('submission: { payees: approve_changed }');
  await pay(s, 'november.csv', fileOf(two, 'N'));
  s.clock.advance(30 * day);
  const same = await take(s, 'december.csv', fileOf(two, 'D'));
  expect(same.holdReasons).toEqual([]);
  await s.ledger.write((trx) => trx.updateTable('payouts').set({ state: 'success' }).execute());
  s.clock.advance(30 * day);
  const file = s.drop('january.csv', fileOf(moved, 'J'));
  expect((await s.intake.check(file)).holdReasons).toMatchObject([{ kind: 'approval', why: { changed: 1 } }]);
  const { batch } = await s.intake
    .takeIn(file, { origin: 'inbox', dropper: { name: 'ada' } } as never)
    .then((t) => {
      if (t.kind !== 'taken') throw new Error(JSON.stringify(t));
      expect(t.holdReasons).toMatchObject([
        { kind: 'approval', why: { kind: 'payees', changed: 1, rows: [3] } },
      ]);
      return t;
    });
  const row = await s.ledger.db
    .selectFrom('batches')
    .selectAll()
    .where('id', '=', batch)
    .executeTakeFirstOrThrow();
  const review = await reviewApproval({ ledger: s.ledger, config: s.config }, batch, person('bola') as never);
  if (review.kind !== 'may') throw new Error(review.kind);
  const digest = (await approvalDigests(s.ledger.db, [row])).get(batch);
  expect(review.shown.digest).toBe(digest);
  await s.ledger.write((trx) =>
    trx.updateTable('payee_comparisons').set({ digest: 'another' }).where('batch_id', '=', batch).execute(),
  );
  const parts = { ledger: s.ledger, config: s.config, clock: s.clock };
  const order = { batch, digest: digest ?? '' };
  const again = await approveVerb.run(parts as never, order, person('bola') as never);
  expect(again, 'another change needs another approval').toMatchObject({ why: { kind: 'changed' } });
});

it('P37: a held batch vouches for nobody', async () => {
  const s = await setting('submission: { payees: approve_changed }');
  const november = await pay(s, 'november.csv', fileOf(two, 'N'));
  s.clock.advance(day);
  const { holdReasons } = await take(s, 'first.csv', fileOf(moved, 'F'));
  expect(holdReasons.some(({ kind }) => kind === 'approval')).toBe(true);
  s.clock.advance(10 * day);
  const checked = await s.intake.check(s.drop('second.csv', fileOf(moved, 'S')));
  expect(checked.compared).toMatchObject({ with: november, accountChanged: 1 });
});

it('P37: one that a person held when all of it was sent does, and an amount a hundred times that of before is seen', async () => {
  const s = await setting('submission: { payees: approve_changed }');
  const { batch } = await take(s, 'november.csv', fileOf(two, 'N'));
  await confirmFiles(s, anyDay);
  for (const claimed of await claimAt(s.ledger, s.clock.iso(), 10))
    await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.accepted(claimed.reference));
  await holdVerb.run({ ledger: s.ledger, clock: s.clock }, { batch }, person('femi'));
  for (const reference of ['N-0', 'N-1']) await showAs(s, reference, 'success');
  s.clock.advance(30 * day);
  const slipped = two.map((one, i) => (i === 0 ? { ...one, minor: one.minor * 100n } : one));
  const { compared, holdReasons } = await s.intake.check(s.drop('december.csv', fileOf(slipped, 'D')));
  expect(compared).toMatchObject({ with: batch, joined: 0, hundredfold: { count: 1, rows: [2] } });
  expect(holdReasons).toMatchObject([{ kind: 'approval', why: { kind: 'payees', hundredfold: 1 } }]);
});

it('P37: a column that is new does not hide a changed account', async () => {
  const s = await setting();
  await pay(s, 'november.csv', fileOf(two, 'N'));
  const text = fileOf(moved, 'D')
    .split('\n')
    .map((line, i) => (line === '' ? line : `${line},${i === 0 ? 'note' : 'x'}`));
  const { compared, warnings } = await s.intake.check(s.drop('december.csv', text.join('\n')));
  expect(compared?.accountChanged).toBe(1);
  expect(warnings.join()).toContain('1 payee with another account than before');
});

it('P37: two accounts of the same last digits are told apart where accounts are masked', async () => {
  const s = await setting('reports: { mask_accounts: true }');
  await pay(s, 'november.csv', fileOf(two, 'N'));
  const other = two.map((one) => (one.id === 'E2' ? { ...one, account: '9999997891' } : one));
  const { compared, warnings } = await s.intake.check(s.drop('december.csv', fileOf(other, 'D')));
  const [old, now] = ['******7891', '******7891 (the hidden digits differ)'];
  expect(compared?.changes).toMatchObject([{ row: 3, kind: 'account_changed', old, new: now }]);
  expect(warnings.join()).toContain(`${old} → ${now}`);
});

it('P37: approve_new holds a batch with a payee never paid, also the first one', async () => {
  const s = await setting('submission: { payees: approve_new }');
  const first = await s.intake.check(s.drop('november.csv', fileOf(two, 'N')));
  expect(first.holdReasons).toMatchObject([{ kind: 'approval', why: { kind: 'payees', fresh: 2 } }]);
  await pay(s, 'november.csv', fileOf(two, 'N'));
  s.clock.advance(30 * day);
  expect((await s.intake.check(s.drop('december.csv', fileOf(two, 'D')))).holdReasons).toEqual([]);
});

it('P37: an amount a hundred times that of before is named, and held under approve_changed', async () => {
  const s = await setting('submission: { payees: approve_changed }');
  await pay(s, 'november.csv', fileOf(two, 'N'));
  s.clock.advance(30 * day);
  const large = two.map((one) => ({ ...one, minor: one.minor * 100n }));
  const { warnings, holdReasons, compared } = await s.intake.check(
    s.drop('december.csv', fileOf(large, 'D')),
  );
  expect(compared).toMatchObject({
    amountChanged: 2,
    hundredfold: { count: 2, rows: [2, 3] },
    inflated: ['NGN'],
  });
  expect(holdReasons).toMatchObject([{ kind: 'approval', why: { kind: 'payees', hundredfold: 2 } }]);
  expect(warnings.filter((text) => text.includes('kobo'))).toHaveLength(2);
});

it('P37: counts every amount that differs from the batch before, and by how much in all', async () => {
  const s = await setting();
  await pay(s, 'november.csv', fileOf(two, 'N'));
  s.clock.advance(30 * day);
  const raised = two.map((one) => ({ ...one, minor: one.minor + 1_000n }));
  const { compared } = await s.intake.check(s.drop('december.csv', fileOf(raised, 'D')));
  expect(compared).toMatchObject({ amountChanged: 0, amounts: { count: 2, sums: { NGN: '20.00' } } });
  expect(compared && comparedText(compared)).toContain(
    'amount changed 2 (NGN 20.00 in all), amount changed by more than half 0',
  );
});

it('P37: compares the second row of a payee with the second of before', async () => {
  const s = await setting();
  const both = two.flatMap((one) => [one, { ...one, minor: one.minor / 10n }]);
  const before = await pay(s, 'november.csv', fileOf(both, 'N'));
  s.clock.advance(30 * day);
  const { batch } = await take(s, 'december.csv', fileOf(both, 'D'));
  expect((await comparisonOf(s.ledger.db, batch))?.amounts).toEqual({ count: 0, sums: {} });
  expect(await amountDifferences(s.ledger.db, batch, before)).toEqual([]);
});

it('P37: lists all whose amount differs from the batch before, the largest difference first', async () => {
  const s = await setting();
  const people = firstMonth(1, 60);
  const before = await pay(s, 'november.csv', fileOf(people, 'N'));
  s.clock.advance(30 * day);
  // Another account, and others with more and less.
  const now = people.map((one, i) => {
    const account = i === 7 ? '5550001112' : one.account;
    return { ...one, account, minor: one.minor + BigInt(i % 3 === 0 ? 0 : i * (i % 2 === 0 ? -100 : 100)) };
  });
  const { batch } = await take(s, 'december.csv', fileOf(now, 'D'));
  const found = (await amountDifferences(s.ledger.db, batch, before)) ?? [];
  const amounts = (await comparisonOf(s.ledger.db, batch))?.amounts;
  expect(found).toHaveLength(40);
  expect(amounts?.count).toBe(40);
  const by = found.map((one) => Number(one.now - one.before));
  expect(by.slice(0, 4)).toEqual([5900, -5800, -5600, 5500]);
  expect(by).toContain(700);
  expect(amounts?.sums).toEqual({ NGN: (by.reduce((sum, one) => sum + one) / 100).toFixed(2) });
});

it('P37: compares the amount of nobody with that of another kind of batch, also where the account changed', async () => {
  const s = await setting();
  await pay(s, 'november.csv', fileOf(firstMonth(1, 20), 'N'));
  s.clock.advance(5 * day);
  const [ada] = firstMonth(1, 20);
  const allowance = ada ? [{ ...ada, account: '5550001112', minor: 100n }] : [];
  const { compared } = await s.intake.check(s.drop('allowance.csv', fileOf(allowance, 'A')));
  expect(compared).toMatchObject({ day: '', accountChanged: 1, amountChanged: 0 });
  expect(compared?.changes.map(({ kind, was }) => [kind, was])).toEqual([
    ['account_changed', expect.stringMatching(/^N/)],
  ]);
  expect(compared && comparedText(compared)).not.toContain('amount changed');
});

it('P37: a row with two reasons is named once', async () => {
  const s = await setting('submission: { payees: approve_changed }');
  await pay(s, 'november.csv', fileOf(two, 'N'));
  s.clock.advance(30 * day);
  const both = moved.map((one) => (one.id === 'E2' ? { ...one, minor: one.minor * 100n } : one));
  const { holdReasons } = await s.intake.check(s.drop('december.csv', fileOf(both, 'D')));
  expect(holdReasons).toMatchObject([{ why: { changed: 1, hundredfold: 1, rows: [3] } }]);
});

it('compares ten thousand rows in well under a second', async () => {
  const s = await setting();
  const many = firstMonth(1, 10_000);
  await pay(s, 'november.csv', fileOf(many, 'N'));
  s.clock.advance(30 * day);
  const taken = await take(s, 'december.csv', fileOf(many, 'D'));
  const columns = fileOf([], 'D').trim().split(',');
  const now = {
    columns,
    count: many.length,
    totals: new Map(),
    again: new Map(),
    ...batchRows(s.ledger.db, taken.batch),
  };
  const began = performance.now();
  const found = await comparePayees(s.ledger.db, now, { newcomers: true, zone: 'UTC' });
  const took = performance.now() - began;
  expect(found?.comparison).toMatchObject({ joined: 0, left: 0, newPayees: 0 });
  expect(took).toBeLessThan(3000);
  if (process.env.SHOW_TIMES) console.log(`10,000 rows compared in ${took.toFixed(0)} ms`);
});

it('warns of the same account twice in one file, whatever the amounts', async () => {
  const s = await setting();
  const [ada] = two;
  const bonus = ada ? [ada, { ...ada, minor: 5_000n }] : [];
  const { warnings, holdReasons } = await s.intake.check(s.drop('november.csv', fileOf(bonus, 'N')));
  expect(warnings).toContain('row 3: pays the account of row 2 too');
  expect(holdReasons).toEqual([]);
});

it('P37: a mended failed.csv with another account is a change like any', async () => {
  const s = await setting('submission: { payees: approve_changed }');
  const before = two.map((one) => ({ row: 2, reference: one.id, ...paidAs(one) }));
  const { batch } = await take(s, 'november.csv', fileOf(two, 'N'));
  const [first] = await s.ledger.db
    .selectFrom('payouts')
    .select('id')
    .where('batch_id', '=', batch)
    .execute();
  const rows = [{ ...before[0], accountNumber: '9999999999' }].filter((one) => one.reference !== undefined);
  const found = await comparePayees(
    s.ledger.db,
    {
      ...{ columns: ['reference', 'retry_of'], count: 1, totals: new Map(), batch: null },
      again: new Map([[2, first?.id ?? 0n]]),
      each: (take) => take(rows as PayeeRow[]),
      some: async () => rows as PayeeRow[],
    },
    { newcomers: false, zone: 'UTC' },
  );
  expect(found?.comparison).toMatchObject({ with: batch, accountChanged: 1, left: 0, joined: 0 });
  expect(found?.asking, 'the row that waits with on_changed rows').toEqual([2]);
});

function paidAs({ id, name, account, bank, minor }: Person) {
  const money = { currency: 'NGN', amount: minor };
  return { accountNumber: account, accountName: name, bankCode: bank, payeeId: id, ...money };
}

it('lists known payees with every name, a page at a time, and those that changed', async () => {
  const s = await setting();
  await pay(s, 'november.csv', fileOf(two, 'N'));
  s.clock.advance(30 * day);
  const married = moved.map((one) => (one.id === 'E1' ? { ...one, name: 'Adaeze Eze' } : one));
  await pay(s, 'december.csv', fileOf(married, 'D'));
  const all = await listPayees(s.ledger.db, { changed: false, limit: 10 });
  expect(all.map((one) => [one.account_number, one.batches])).toEqual([
    ['0123456785', 2],
    ['2034567891', 1],
    ['2034567892', 1],
  ]);
  expect(all[0]).toMatchObject({ names: ['Adaeze Eze', 'Adaeze Okonkwo'], payee_ids: ['E1'], paid: 2 });
  const [first] = await listPayees(s.ledger.db, { changed: false, limit: 1 });
  const after = payeeAfter(first ? payeeCursor(first) : '');
  const rest = await listPayees(s.ledger.db, { changed: false, limit: 10, ...(after && { after }) });
  expect(rest).toEqual(all.slice(1));
  const changed = await listPayees(s.ledger.db, { changed: true, limit: 10 });
  expect(changed.map((one) => one.account_number)).toEqual(['0123456785', '2034567892']);
  expect(payeeAfter('no cursor')).toBeNull();
});

it('names the day of an earlier batch in the zone of the reports, as the figures beside it do', async () => {
  // There the day is one ahead of UTC.
  const s = await setting('reports:\n  timezone: Pacific/Kiritimati\n');
  expect(s.clock.iso()).toMatch(/^2026-11-21T10/);
  const people = firstMonth(1, 20);
  const first = await pay(s, 'november.csv', fileOf(people, 'N', { ids: false }));
  const once = await s.intake.check(s.drop('again.csv', fileOf(people, 'N', { ids: false })));
  expect(JSON.stringify(once.problems)).toContain(`batch ${first} on 2026-11-22`);
  s.clock.advance(day);
  const checked = await s.intake.check(s.drop('december.csv', fileOf(people, 'D', { ids: false })));
  expect(checked.compared).toMatchObject({ with: first, day: '2026-11-22' });
});
