import { expect, it } from 'vitest';
import type { WitnessStatus } from '../../src/core/domain/payout.ts';
import { holdReasonsOf } from '../../src/core/ledger/hold-reasons.ts';
import type { RecordEvent } from '../../src/core/ledger/projection.ts';
import { record } from '../../src/core/ledger/record.ts';
import { alikeSince } from '../../src/intake/alike-meanwhile.ts';
import { confirmFiles } from '../../src/intake/confirm.ts';
import { finishHolds, releaseBatch } from '../../src/sending/holds.sql.ts';
import { holdVerb } from '../../src/verbs/hold.ts';
import { releaseVerb } from '../../src/verbs/release.ts';
import { claimAt, recordOutcome, replies, states } from '../support/ledger.ts';
import { refuseAll, showAs } from './refused.ts';
import { anyDay, batchOf, csv, head, row, type Setting, setting } from './setting.ts';

const day = 86_400_000;
const femi = {
  name: 'femi',
  noted: 'femi',
  accounts: [{ name: 'femi', uid: null }],
};
const none = {
  transferId: null,
  trx: null,
  fee: null,
  settledAt: null,
  message: null,
};

const take = async (s: Setting, name: string, text: string): Promise<string> =>
  batchOf(await s.intake.takeIn(s.drop(`${name}.csv`, text), { origin: 'inbox' }));

/** A file of one payment that waits for its day. */
const dated = (
  s: Setting,
  reference: string,
  days: number,
  ...more: Parameters<typeof row> extends [string, ...infer R] ? R : never
) =>
  `${head},pay_on\n${row(reference, ...more)},${new Date(s.clock.now() + days * day).toISOString().slice(0, 10)}\n`;

async function idOf(s: Setting, reference: string): Promise<bigint> {
  const query = s.ledger.db.selectFrom('payouts').select('id').where('reference', '=', reference);
  return (await query.executeTakeFirstOrThrow()).id;
}

async function hears(s: Setting, reference: string, event: RecordEvent['event'], source = 'details') {
  const payoutId = await idOf(s, reference);
  await s.ledger.write((trx) => record(trx, s.clock.iso(), [{ payoutId, source, event }]));
}
const says = (source: 'details' | 'listing' | 'webhook', status: WitnessStatus) => ({
  kind: 'witness' as const,
  witness: { source, status, ...none },
});

/** What goes on the day of payment. */
async function onItsDay(s: Setting): Promise<string[]> {
  s.clock.advance(10 * day);
  await finishHolds(s.ledger, { at: s.clock.iso() });
  await confirmFiles(s, anyDay);
  return (await claimAt(s.ledger, s.clock.iso(), 10)).map(({ reference }) => reference);
}
const reasonsOf = async (s: Setting, batch: string) => (await holdReasonsOf(s.ledger.db, batch)).reasons;
const release = (s: Setting, batch: string) =>
  releaseVerb.run({ ledger: s.ledger, clock: s.clock, config: s.config }, { batch }, femi);

/** A was refused, and B is to be paid in its place in so many days. */
async function replaced(days = 3, yaml = '') {
  const s = await setting(yaml);
  const first = await take(s, 'a', csv(row('A')));
  await refuseAll(s);
  s.clock.advance(60_000);
  const second = await take(s, 'b', dated(s, 'B', days));
  expect(await reasonsOf(s, second), 'A was refused').toEqual([]);
  s.clock.advance(60_000);
  return { s, first, second };
}

it.each([3, 9])(
  'P14, P23, P38: what waits %d days to be paid in place of a refused payout does not go once that turns out paid',
  async (days) => {
    const { s, first, second } = await replaced(days);
    await showAs(s, 'A', 'success');
    expect(await reasonsOf(s, second)).toMatchObject([
      { kind: 'alike', reference: 'A', batch: first, row: 2 },
    ]);
    expect(await onItsDay(s)).toEqual([]);
    expect(await states(s.ledger)).toEqual({ A: 'success', B: 'held' });
    expect(await release(s, second)).toMatchObject({
      released: { moved: 1, stays: [] },
    });
    await showAs(s, 'A', 'success');
    expect(await onItsDay(s), 'a person saw it').toEqual(['B']);
  },
);

it.each(['pending', 'success'] as const)(
  'P14, P23: a refused payout that the list shows as %s holds what waits in its place',
  async (status) => {
    const { s } = await replaced();
    await hears(s, 'A', says('listing', status), 'listing');
    expect(await onItsDay(s)).toEqual([]);
  },
);

it('P14, P23: so does a webhook that no look-up has answered, and once released it stays released', async () => {
  const { s, second } = await replaced();
  await hears(s, 'A', says('webhook', 'success'), 'webhook');
  expect(await states(s.ledger)).toMatchObject({ A: 'refused' });
  expect(await onItsDay(s)).toEqual([]);
  await release(s, second);
  await hears(s, 'A', says('webhook', 'success'), 'webhook');
  expect(await onItsDay(s), 'it said nothing new').toEqual(['B']);
});

it('P14, P23: the details hold it once more where a person knew a webhook only', async () => {
  const { s, second } = await replaced();
  await hears(s, 'A', says('webhook', 'success'), 'webhook');
  await release(s, second);
  await showAs(s, 'A', 'success');
  expect(await onItsDay(s)).toEqual([]);
});

it.each(['failed', 'returned'] as const)(
  'P14, P23, P36: what a person released in place of a payout that %s waits again once that is paid after all',
  async (end) => {
    const s = await setting();
    await take(s, 'a', csv(row('A')));
    await confirmFiles(s, anyDay);
    for (const claimed of await claimAt(s.ledger, s.clock.iso(), 10))
      await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.accepted());
    if (end === 'returned') await hears(s, 'A', says('details', 'success'));
    await hears(s, 'A', says('details', end));
    s.clock.advance(60_000);
    const second = await take(s, 'b', dated(s, 'B', 3));
    expect(await reasonsOf(s, second)).toMatchObject([{ kind: 'alike', reference: 'A' }]);
    await release(s, second);
    await hears(s, 'A', { ...says('details', 'success'), askedIn: end });
    expect(await states(s.ledger), 'a contradiction').toMatchObject({
      A: end,
      B: 'ready',
    });
    expect(await onItsDay(s)).toEqual([]);
  },
);

it('P32: so does what waits in place of a payout that a person closed as not paid, once it is paid', async () => {
  const s = await setting();
  await take(s, 'a', csv(row('A')));
  await confirmFiles(s, anyDay);
  for (const claimed of await claimAt(s.ledger, s.clock.iso(), 10))
    await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.unknown());
  await hears(s, 'A', { kind: 'settle', as: 'failed', note: 'the bank said so' }, 'person:ada');
  const second = await take(s, 'b', dated(s, 'B', 3));
  await release(s, second);
  await hears(s, 'A', { kind: 'settle', as: 'success', note: 'the bank was wrong' }, 'person:ada');
  expect(await onItsDay(s)).toEqual([]);
});

it('P15: a transfer under a cancelled reference holds what waits in its place', async () => {
  const s = await setting();
  await take(s, 'a', csv(row('A')));
  await hears(s, 'A', { kind: 'cancel', why: 'wrong day' }, 'person:ada');
  const second = await take(s, 'b', dated(s, 'B', 3));
  await hears(s, 'A', says('listing', 'failed'), 'listing');
  expect(await reasonsOf(s, second), 'no money moved').toEqual([]);
  await hears(s, 'A', says('listing', 'pending'), 'listing');
  expect(await onItsDay(s)).toEqual([]);
});

it.each([
  ['webhook', 'success'],
  ['listing', 'pending'],
] as const)(
  'P15, P23: a file that comes after the %s showed a cancelled payout as %s is held for it',
  async (source, status) => {
    const s = await setting('intake: { unique_columns: [invoice no] }');
    const invoiced = (line: string) => `${head},Invoice No\n${line},INV 7\n`;
    const first = await take(s, 'a', invoiced(row('A')));
    await hears(s, 'A', { kind: 'cancel', why: 'wrong day' }, 'person:ada');
    expect((await s.intake.check(s.drop('c.csv', csv(row('C'))))).duplicates).toEqual([]);
    await hears(s, 'A', says(source, status), source);
    const { duplicates, warnings } = await s.intake.check(s.drop('c.csv', csv(row('C'))));
    expect([duplicates, warnings]).toMatchObject([[{ earlier: `A in batch ${first}` }], []]);
    const second = await take(s, 'b', csv(row('B')));
    expect(await reasonsOf(s, second)).toMatchObject([{ kind: 'alike', reference: 'A' }]);
    const third = await take(s, 'd', invoiced(row('D', '7', '0999999999')));
    expect(await reasonsOf(s, third)).toMatchObject([{ kind: 'value_again', before: { reference: 'A' } }]);
    expect(await onItsDay(s)).toEqual([]);
  },
);

it('P23: an invoice of a refused payout that turns out paid holds its second payment, whatever its account', async () => {
  const s = await setting('intake: { unique_columns: [invoice no] }');
  const invoiced = (line: string) => `${head},Invoice No\n${line},INV 7\n`;
  const first = await take(s, 'a', invoiced(row('A')));
  await refuseAll(s);
  const second = await take(s, 'b', invoiced(row('B', '100', '0999999999')));
  await showAs(s, 'A', 'success');
  const before = { reference: 'A', batch: first, day: '2026-11-21' };
  expect(await reasonsOf(s, second)).toMatchObject([
    {
      kind: 'value_again',
      row: 2,
      column: 'Invoice No',
      value: 'INV 7',
      before,
      others: 0,
    },
  ]);
  expect(await onItsDay(s)).toEqual([]);
  expect(await release(s, second)).toMatchObject({
    released: { moved: 1, stays: [] },
  });
});

it.each([60_000, -2 * day])(
  'P23, P33: a batch that a person holds names it too, whatever the clock (%d ms)',
  async (ms) => {
    const { s, second } = await replaced();
    await holdVerb.run({ ledger: s.ledger, clock: s.clock }, { batch: second }, femi);
    s.clock.advance(ms);
    await showAs(s, 'A', 'success');
    expect(await reasonsOf(s, second)).toMatchObject([{ kind: 'person' }, { kind: 'alike', reference: 'A' }]);
    expect(await release(s, second)).toMatchObject({
      released: { moved: 1, stays: [] },
    });
  },
);

it('P23: one whose POST is turned away meanwhile is held when it comes back', async () => {
  const { s } = await replaced(0);
  await confirmFiles(s, anyDay);
  const [claimed] = await claimAt(s.ledger, s.clock.iso(), 10);
  await showAs(s, 'A', 'success');
  if (claimed) await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.turnedAway());
  expect(await onItsDay(s)).toEqual([]);
});

it('P23: what was ordered before it came to nothing is no replacement of it', async () => {
  const s = await setting('submission: { duplicate_window_days: 5 }');
  await take(s, 'a', csv(row('A')));
  const second = await take(s, 'b', dated(s, 'B', 9));
  await refuseAll(s);
  await showAs(s, 'A', 'success');
  expect(await reasonsOf(s, second), 'next month').toEqual([]);
  expect(await onItsDay(s)).toEqual(['B']);
});

/** A came to nothing known, and a person released B beside it, which waits for its day. */
async function besides(outcome: 'unknown' | 'accepted' | 'turnedAway') {
  const s = await setting();
  await take(s, 'a', csv(row('A')));
  await confirmFiles(s, anyDay);
  for (const claimed of await claimAt(s.ledger, s.clock.iso(), 10))
    await recordOutcome(s.ledger, s.clock.iso(), claimed, replies[outcome]());
  const second = await take(s, 'b', dated(s, 'B', 3));
  expect(await reasonsOf(s, second)).toMatchObject([{ kind: 'alike', reference: 'A' }]);
  await release(s, second);
  return { s, second };
}

it('P14, P23: what a person released beside an unknown payout waits again once that is paid', async () => {
  const { s, second } = await besides('unknown');
  await showAs(s, 'A', 'success');
  expect(await reasonsOf(s, second)).toMatchObject([{ kind: 'alike', reference: 'A' }]);
  expect(await onItsDay(s)).toEqual([]);
});

it('P14, P23: so does it where a webhook calls the unknown payout failed, which makes it pending, and it is paid', async () => {
  const { s } = await besides('unknown');
  await hears(s, 'A', says('webhook', 'failed'), 'webhook');
  expect(await states(s.ledger)).toMatchObject({ A: 'pending' });
  await showAs(s, 'A', 'success');
  expect(await onItsDay(s)).toEqual([]);
});

it('P14, P23: so does what was released while it was unknown, and before it failed', async () => {
  const { s } = await besides('unknown');
  await showAs(s, 'A', 'failed');
  await hears(s, 'A', { ...says('details', 'success'), askedIn: 'failed' });
  expect(await states(s.ledger)).toMatchObject({ A: 'failed' });
  expect(await onItsDay(s)).toEqual([]);
});

it('P23: what a person released beside a payout on its way goes when both are to be paid', async () => {
  const { s } = await besides('accepted');
  await showAs(s, 'A', 'success');
  expect(await onItsDay(s)).toEqual(['B']);
});

it('P14, P19, P23: so does it where a person ordered the unknown payout again, and it is paid before it goes', async () => {
  const { s } = await besides('unknown');
  await hears(s, 'A', { kind: 'retry', to: 'held', automatic: false, why: 'ada' }, 'person:ada');
  await showAs(s, 'A', 'success');
  expect(await onItsDay(s)).toEqual([]);
});

it('P23: what a person released beside a payout that is to be sent again goes', async () => {
  const { s, second } = await besides('unknown');
  await holdVerb.run({ ledger: s.ledger, clock: s.clock }, { batch: second }, femi);
  await hears(s, 'A', { kind: 'retry', to: 'held', automatic: false, why: 'ada' }, 'person:ada');
  await release(s, second);
  await showAs(s, 'A', 'success');
  expect(await onItsDay(s)).toEqual(['B']);
});

it('P23: one that the service turned away, and has all the same, holds nothing that was released beside it', async () => {
  const { s } = await besides('turnedAway');
  await showAs(s, 'A', 'success');
  expect(await onItsDay(s)).toEqual(['B']);
});

it('P23: those that come back one by one hold their batch for one reason, which counts each row once', async () => {
  const s = await setting();
  const rows = [1, 2, 3].map((n) => row(`A${n}`, `10${n}`));
  const first = await take(s, 'a', csv(...rows));
  await refuseAll(s);
  const second = await take(s, 'b', csv(...rows.map((one) => one.replace('A', 'B'))));
  const comesBack = (reference: string, source: 'webhook' | 'details') =>
    hears(s, reference, says(source, 'success'), source);
  await comesBack('A2', 'webhook');
  const [seen] = await reasonsOf(s, second);
  for (const reference of ['A2', 'A3', 'A1']) await comesBack(reference, 'details');
  const [reason, ...others] = await reasonsOf(s, second);
  expect(reason).toMatchObject({ kind: 'alike', row: 3, reference: 'A2', batch: first, others: 2 });
  expect(others).toEqual([]);
  const parts = { ledger: s.ledger, batch: second, at: s.clock.iso() };
  expect(
    await releaseBatch(parts.ledger, { ...parts, ...(seen && { seen: [seen] }) }),
    'who saw the first only',
  ).toMatchObject({
    moved: 0,
    stays: [reason],
  });
});

it('P20, P23: so is it with an unknown payout that turns out paid, whatever a person released beside it before', async () => {
  const { s } = await besides('unknown');
  expect(await onItsDay(s)).toEqual(['B']);
  await hears(s, 'B', says('details', 'failed'));
  const ids = [await idOf(s, 'B')];
  const looking = { config: s.config, at: s.clock.iso() };
  const found = () => s.ledger.write((trx) => alikeSince(trx, ids, looking));
  expect([...(await found()).keys()], 'a person knew it').toEqual([]);
  await showAs(s, 'A', 'success');
  expect([...(await found()).values()]).toMatchObject([
    [{ kind: 'alike', reference: 'A', scope: 'successors' }],
  ]);
});

it('P23: what intake has said of all its rows is not said twice once they all come back', async () => {
  const s = await setting();
  const rows = [1, 2, 3].map((n) => row(`A${n}`, `10${n}`));
  await take(s, 'a', csv(...rows));
  await confirmFiles(s, anyDay);
  for (const claimed of await claimAt(s.ledger, s.clock.iso(), 10))
    await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.unknown());
  const second = await take(s, 'b', csv(...rows.map((one) => one.replace('A', 'B'))));
  const [said] = await reasonsOf(s, second);
  for (const reference of ['A1', 'A2', 'A3']) await showAs(s, reference, 'success');
  const [reason, ...others] = await reasonsOf(s, second);
  expect([reason, others]).toEqual([{ ...said, mark: expect.any(Number) }, []]);
});

it('P14, P23: a batch whose intake was cut off after its decision is held too', async () => {
  const s = await setting();
  const first = await take(s, 'a', csv(row('A')));
  await refuseAll(s);
  const write: Setting['ledger']['write'] = async (work) => {
    const decided = s.ledger.db.selectFrom('batches').select('id').where('phase', '=', 'loading');
    if ((await decided.where('body_digest', '<>', '').execute()).length > 0) throw new Error('killed');
    return s.ledger.write(work);
  };
  const dying = s.built({ ledger: { ...s.ledger, write } });
  const file = s.drop('b.csv', csv(row('B')));
  await expect(dying.takeIn(file, { origin: 'inbox' })).rejects.toThrow('killed');
  await showAs(s, 'A', 'success');
  await s.intake.takeInbox();
  const { id } = await s.ledger.db
    .selectFrom('batches')
    .select('id')
    .where('name', '=', 'b')
    .executeTakeFirstOrThrow();
  expect(await reasonsOf(s, id)).toMatchObject([{ kind: 'alike', reference: 'A', batch: first }]);
  expect(await onItsDay(s)).toEqual([]);
});

it.each(['refused', 'unknown'] as const)(
  'P14, P23: a file that comes after a payout was %s for long and turned out paid is held, however long ago that was sent',
  async (outcome) => {
    const s = await setting();
    const first = await take(s, 'a', csv(row('A')));
    await confirmFiles(s, anyDay);
    for (const claimed of await claimAt(s.ledger, s.clock.iso(), 10))
      await recordOutcome(s.ledger, s.clock.iso(), claimed, replies[outcome]());
    s.clock.advance(20 * day);
    await showAs(s, 'A', 'success');
    s.clock.advance(day);
    const { duplicates } = await s.intake.check(s.drop('c.csv', csv(row('C'))));
    expect(duplicates).toMatchObject([{ earlier: `A in batch ${first}` }]);
    const second = await take(s, 'b', csv(row('B')));
    expect(await reasonsOf(s, second)).toMatchObject([{ kind: 'alike', reference: 'A' }]);
    await release(s, second);
    s.clock.advance(10 * day);
    const later = await take(s, 'd', csv(row('D')));
    expect(await reasonsOf(s, later), 'the salary of the next month is none').toMatchObject([
      { kind: 'alike', reference: 'B' },
    ]);
  },
);

it('P14, P23: an invoice of a refused payout that turns out paid while its second payment is loaded holds that', async () => {
  const s = await setting('intake: { unique_columns: [invoice no] }');
  const invoiced = (line: string) => `${head},Invoice No\n${line},INV 7\n`;
  await take(s, 'a', invoiced(row('A')));
  await refuseAll(s);
  let isShown = false;
  const write: Setting['ledger']['write'] = async (work) => {
    const rows = s.ledger.db.selectFrom('payouts').select('id').where('reference', '=', 'B');
    if (!isShown && (await rows.execute()).length > 0) {
      isShown = true;
      await showAs(s, 'A', 'success');
    }
    return s.ledger.write(work);
  };
  const loading = s.built({ ledger: { ...s.ledger, write } });
  const file = s.drop('b.csv', invoiced(row('B', '7', '0999999999')));
  expect(await loading.takeIn(file, { origin: 'inbox' })).toMatchObject({
    holdReasons: [{ kind: 'value_again', value: 'INV 7', before: { reference: 'A' } }],
  });
  expect(await onItsDay(s)).toEqual([]);
});

it('P20, P23: what is paid again is compared with a payout that somebody says was paid since it was sent', async () => {
  const s = await setting();
  for (const reference of ['A', 'B']) {
    await take(s, reference, csv(row(reference)));
    await refuseAll(s);
  }
  const ids = [await idOf(s, 'B')];
  const looking = { config: s.config, at: s.clock.iso() };
  const found = () => s.ledger.write((trx) => alikeSince(trx, ids, looking));
  expect([...(await found()).keys()]).toEqual([]);
  await hears(s, 'A', says('webhook', 'success'), 'webhook');
  expect([...(await found()).values()]).toMatchObject([
    [{ kind: 'alike', reference: 'A', scope: 'successors' }],
  ]);
});

it('P23: many that come back at once hold each batch once, and name the first row', async () => {
  const s = await setting();
  const rows = [1, 2, 3].map((n) => row(`A${n}`, `10${n}`));
  const first = await take(s, 'a', csv(...rows));
  await refuseAll(s);
  const second = await take(s, 'b', csv(row('Z', '999'), ...rows.map((one) => one.replace('A', 'B'))));
  const ids = await Promise.all(['A3', 'A2'].map((one) => idOf(s, one)));
  const event = says('listing', 'success');
  await s.ledger.write((trx) =>
    record(
      trx,
      s.clock.iso(),
      ids.map((payoutId) => ({ payoutId, source: 'listing', event })),
    ),
  );
  expect(await reasonsOf(s, second)).toMatchObject([
    { kind: 'alike', row: 4, reference: 'A2', batch: first, others: 1 },
  ]);
});
