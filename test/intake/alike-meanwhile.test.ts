import { expect, it } from 'vitest';
import type { PayoutState } from '../../src/core/domain/payout.ts';
import { holdReasonsOf } from '../../src/core/ledger/hold-reasons.ts';
import type { Trx } from '../../src/core/storage/ledger.ts';
import { alikeMeanwhile, alikeSince } from '../../src/intake/alike-meanwhile.ts';
import { createDecisions } from '../../src/sending/decisions/decisions.ts';
import { approveVerb, reviewApproval } from '../../src/verbs/approve.ts';
import { holdVerb } from '../../src/verbs/hold.ts';
import { releaseVerb } from '../../src/verbs/release.ts';
import { rowFaultText } from '../../src/words/row-fault-words.ts';
import { claimAt, recordOutcome, replies } from '../support/ledger.ts';
import { payNow, refuseAll } from './refused.ts';
import { csv, row, type Setting, setting } from './setting.ts';

const day = 86_400_000;
const femi = { name: 'femi', noted: 'femi', accounts: [{ name: 'femi', uid: null }] };
/** The same payment under another reference. */
const file = (reference: string): string => csv(row(reference));

async function take(s: Setting, reference: string, text = file(reference)) {
  const taken = await s.intake.takeIn(s.drop(`${reference}.csv`, text), { origin: 'inbox' });
  if (taken.kind !== 'taken') throw new Error(JSON.stringify(taken));
  return taken;
}
const kinds = (reasons: readonly { kind: string }[]): string[] => reasons.map(({ kind }) => kind);

async function payAll(s: Setting, batch: string, at = s.clock.iso()): Promise<void> {
  const paid = { state: 'success' as const, submitted_at: at };
  await s.ledger.write((trx) => trx.updateTable('payouts').set(paid).where('batch_id', '=', batch).execute());
}

/** What a second payment of it would wait for. */
async function likesOf(s: Setting, reference: string) {
  const own = await s.ledger.db
    .selectFrom('payouts')
    .select('id')
    .where('reference', '=', reference)
    .execute();
  const about = { config: s.config, at: s.clock.iso() };
  return s.ledger.write((trx) =>
    alikeSince(
      trx,
      own.map(({ id }) => id),
      about,
    ),
  );
}

const openStates: PayoutState[] = ['held', 'ready', 'sending', 'pending', 'unknown'];
it.each(openStates)('P23: a payout that is %s is a likely duplicate, however old it is', async (state) => {
  const s = await setting();
  const a = await take(s, 'A');
  await s.ledger.write((trx) => trx.updateTable('payouts').set({ state }).execute());
  s.clock.advance(60 * day);
  const { duplicates } = await s.intake.check(s.drop('check.csv', file('B')));
  expect(duplicates).toMatchObject([{ earlier: `A in batch ${a.batch}` }]);
  expect((await take(s, 'B')).holdReasons).toMatchObject([{ kind: 'alike', reference: 'A', batch: a.batch }]);
});

it('P23: one that has ended counts from when it was sent, not from when it was taken in', async () => {
  const s = await setting();
  const a = await take(s, 'A');
  s.clock.advance(20 * day);
  await payAll(s, a.batch);
  s.clock.advance(3 * day);
  expect(kinds((await take(s, 'B')).holdReasons), 'sent three days ago').toEqual(['alike']);
  await s.ledger.write((trx) =>
    trx.updateTable('payouts').set({ state: 'cancelled' }).where('reference', '=', 'B').execute(),
  );
  s.clock.advance(3 * day);
  expect((await take(s, 'C')).holdReasons, 'sent six days ago').toEqual([]);
});

it('P23: a held batch that is released after the same payments came again waits for who saw them', async () => {
  const s = await setting();
  const parts = { ledger: s.ledger, clock: s.clock, config: s.config };
  const a = await take(s, 'A');
  await holdVerb.run(parts, { batch: a.batch }, femi);
  s.clock.advance(6 * day);
  const b = await take(s, 'B');
  expect(kinds(b.holdReasons)).toEqual(['alike']);
  // Who releases B saw A in its reason: nothing that B could not know came since.
  expect(await releaseVerb.run(parts, { batch: b.batch }, femi)).toMatchObject({
    released: { moved: 1, stays: [] },
  });
  await payAll(s, b.batch);
  const first = await releaseVerb.run(parts, { batch: a.batch }, femi);
  const alike = { kind: 'alike', row: 2, reference: 'B', batch: b.batch, others: 0 };
  expect(first).toMatchObject({ released: { moved: 0, stays: [alike] } });
  const held = await s.ledger.db
    .selectFrom('batches')
    .select('held')
    .where('id', '=', a.batch)
    .executeTakeFirst();
  expect(held).toEqual({ held: 1n });
  const again = await releaseVerb.run(parts, { batch: a.batch }, femi);
  expect(again).toMatchObject({ released: { moved: 1, stays: [] } });
});

it('P23: an approval looks again too, and what it finds keeps the batch held', async () => {
  const s = await setting('submission: { approval: always }');
  const parts = { ledger: s.ledger, clock: s.clock, config: s.config };
  const a = await take(s, 'A');
  s.clock.advance(30 * day);
  const b = await take(s, 'B');
  await payAll(s, b.batch);
  const review = await reviewApproval(parts, a.batch, femi);
  if (review.kind !== 'may') throw new Error(review.kind);
  const done = await approveVerb.run(parts, { batch: a.batch, digest: review.shown.digest }, femi);
  expect(done).toMatchObject({
    kind: 'approved',
    others: [{ kind: 'alike', reference: 'B' }],
    released: null,
  });
  expect(await releaseVerb.run(parts, { batch: a.batch }, femi)).toMatchObject({
    released: { moved: 1, stays: [] },
  });
});

it('P23, P38: what a release of today lets go is compared with what goes soon by its own day', async () => {
  const s = await setting();
  const days = (n: number): string => new Date(s.clock.now() + n * day).toISOString().slice(0, 10);
  const dated = (reference: string, on: string): string =>
    csv(row(reference))
      .split('\n')
      .map((line, i) => (line === '' ? '' : `${line},${i === 0 ? 'pay_on' : on}`))
      .join('\n');
  await take(s, 'D', dated('D', days(20)));
  const a = await take(s, 'A');
  expect(a.holdReasons, 'twenty days apart').toEqual([]);
  const look = () =>
    s.ledger.write(async (trx) => {
      const batch = await trx
        .selectFrom('batches')
        .selectAll()
        .where('id', '=', a.batch)
        .executeTakeFirstOrThrow();
      return alikeMeanwhile(trx, batch, { config: s.config, at: s.clock.iso() });
    });
  expect(await look()).toEqual([]);
  s.clock.advance(17 * day);
  expect(await look()).toMatchObject([{ kind: 'alike', reference: 'D' }]);
});

it.each([
  ['refused', 'A-R2'],
  ['unknown', 'A'],
] as const)(
  'P20, P23: what was %s is paid again after another file paid it: it waits for who saw that',
  async (outcome, sentAs) => {
    const s = await setting();
    const parts = { ledger: s.ledger, clock: s.clock, config: s.config };
    const a = await take(s, 'A');
    const [claimed] = await claimAt(s.ledger, s.clock.iso());
    if (claimed) await recordOutcome(s.ledger, s.clock.iso(), claimed, replies[outcome]());
    s.clock.advance(20 * day);
    const b = await take(s, 'B');
    await releaseVerb.run(parts, { batch: b.batch }, femi);
    await payAll(s, b.batch);
    s.clock.advance(day);
    const rules = { referencePrefix: '', payoutLimit: {} };
    const alike = (trx: Trx, ids: readonly bigint[], at: string) =>
      alikeSince(trx, ids, { config: s.config, at });
    const decisions = createDecisions({ ledger: s.ledger, clock: s.clock, rules, say: rowFaultText, alike });
    const ids = (await decisions.find(['A'])).payouts.map(({ id }) => id);
    const since = s.clock.iso();
    const { digest } = await decisions.weigh(ids, since);
    const done = await decisions.retry({ ids, since, digest, person: 'femi' });
    expect(done).toMatchObject({ decided: [{ reference: sentAs, state: 'held' }] });
    const { reasons } = await holdReasonsOf(s.ledger.db, a.batch);
    expect(reasons).toMatchObject([{ kind: 'alike', reference: 'B', batch: b.batch, scope: 'successors' }]);
    expect(await releaseVerb.run(parts, { batch: a.batch }, femi)).toMatchObject({
      released: { moved: 1, stays: [] },
    });
  },
);

it('P20, P23: what an older file, held until then, has paid since waits when it is paid again', async () => {
  const s = await setting();
  const parts = { ledger: s.ledger, clock: s.clock, config: s.config };
  const b = await take(s, 'B');
  await holdVerb.run(parts, { batch: b.batch }, femi);
  s.clock.advance(10 * day);
  const a = await take(s, 'A');
  await releaseVerb.run(parts, { batch: a.batch }, femi);
  await refuseAll(s);
  s.clock.advance(day);
  const gone = await releaseVerb.run(parts, { batch: b.batch }, femi);
  expect(gone, 'A was refused').toMatchObject({ released: { moved: 1 } });
  const found = { kind: 'alike', reference: 'B', batch: b.batch, scope: 'successors' };
  expect([...(await likesOf(s, 'A'))], 'it may go').toMatchObject([[a.batch, [found]]]);
  await payNow(s, 'B');
  s.clock.advance(day);
  expect([...(await likesOf(s, 'A'))], 'it has gone').toMatchObject([[a.batch, [found]]]);
});

it('P20, P23: what an older file paid before, which a person saw, lets it be paid again', async () => {
  const s = await setting();
  const parts = { ledger: s.ledger, clock: s.clock, config: s.config };
  await take(s, 'B');
  await payNow(s, 'B');
  const a = await take(s, 'A');
  await releaseVerb.run(parts, { batch: a.batch }, femi);
  await refuseAll(s);
  expect([...(await likesOf(s, 'A'))]).toEqual([]);
});

it('P23, P33: what an older file has paid since is seen where our clock was set back meanwhile', async () => {
  const s = await setting();
  const parts = { ledger: s.ledger, clock: s.clock, config: s.config };
  const b = await take(s, 'B');
  await holdVerb.run(parts, { batch: b.batch }, femi);
  s.clock.advance(10 * day);
  const a = await take(s, 'A');
  await releaseVerb.run(parts, { batch: a.batch }, femi);
  await refuseAll(s);
  s.clock.advance(-2 * day);
  await releaseVerb.run(parts, { batch: b.batch }, femi);
  await payNow(s, 'B');
  expect([...(await likesOf(s, 'A'))]).toMatchObject([[a.batch, [{ kind: 'alike', reference: 'B' }]]]);
});
