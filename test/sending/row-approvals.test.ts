import { expect, it } from 'vitest';
import { holdReasonsOf } from '../../src/core/ledger/hold-reasons.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { confirmFiles } from '../../src/intake/confirm.ts';
import { claimRejection } from '../../src/sending/approvals.sql.ts';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { createDecisions } from '../../src/sending/decisions/decisions.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { approvalWarnings, approveReviewed, approveVerb, reviewApproval } from '../../src/verbs/approve.ts';
import { cancelVerb } from '../../src/verbs/cancel.ts';
import { holdVerb } from '../../src/verbs/hold.ts';
import { rejectVerb } from '../../src/verbs/reject.ts';
import { releaseVerb } from '../../src/verbs/release.ts';
import { rowFaultText } from '../../src/words/row-fault-words.ts';
import { wordedChecks } from '../../src/words/verify-words.ts';
import { fileOf, type Person } from '../intake/payee-months.ts';
import { anyDay, type Setting, setting } from '../intake/setting.ts';
import { tamper } from '../support/intruder.ts';
import { claimAt } from '../support/ledger.ts';

const day = 86_400_000;
const rows = 'submission: { payees: approve_changed, on_changed: rows }';
const people: Person[] = [1, 2, 3, 4].map((n) => ({
  ...{ id: `E${n}`, name: `Person Number${n}`, bank: '058' },
  ...{ account: `012345678${n}`, minor: 100_000n + BigInt(n) },
}));
/** The second and the fourth row pay another account. */
const moved = people.map((one, i) => (i % 2 === 1 ? { ...one, account: `900000000${i}` } : one));

const person = (name: string) => ({ name, noted: name, accounts: [{ name, uid: null }] }) as never;

async function take(s: Setting, name: string, list: readonly Person[], prefix: string): Promise<string> {
  const options = { origin: 'posted', behind: { name: 'ada', uid: null } } as const;
  const taken = await s.intake.takeIn(s.drop(name, fileOf([...list], prefix)), options);
  if (taken.kind !== 'taken') throw new Error(JSON.stringify(taken));
  return taken.batch;
}

/** A month that was paid whole, and the next one, of which two rows changed. */
async function changed(list = moved, yaml = rows) {
  const s = await setting(yaml);
  const november = await take(s, 'november.csv', people, 'N');
  await settleAll(s, november);
  s.clock.advance(30 * day);
  const batch = await take(s, 'december.csv', list, 'D');
  return { s, batch, ...verbsOn(s) };
}

const settleAll = (s: Setting, batch: string): Promise<unknown> =>
  s.ledger.write((trx) =>
    trx.updateTable('payouts').set({ state: 'success' }).where('batch_id', '=', batch).execute(),
  );

function verbsOn(s: Setting) {
  const { ledger, clock, config } = s;
  const rules = { referencePrefix: '', payoutLimit: {} };
  const decisions = createDecisions({ ledger, clock, rules, say: rowFaultText });
  const reporting = { writeDueBatchResults: async () => [], writeIndex: async () => {} };
  const parts = { ledger, clock, config, decisions, reporting } as never;
  return {
    parts,
    claims: async (brakes: Brakes = noBrakes, limit = 100): Promise<string[]> => {
      await confirmFiles(s, anyDay);
      return (await claimAt(ledger as never, clock.iso(), limit, 'w-1', brakes)).map(
        ({ reference }) => reference,
      );
    },
    approve: async (batch: string, name = 'bola') => {
      const review = await reviewApproval(parts, batch, person(name));
      if (review.kind !== 'may') return review;
      return approveVerb.run(parts, { batch, digest: review.shown.digest }, person(name));
    },
    states: async (batch: string) => {
      const found = ledger.db
        .selectFrom('payouts')
        .select(['reference', 'state'])
        .where('batch_id', '=', batch);
      return Object.fromEntries(
        (await found.orderBy('id').execute()).map((one) => [one.reference, one.state]),
      );
    },
  };
}

const kindsOf = async (s: Setting, batch: string): Promise<string[]> =>
  (await holdReasonsOf(s.ledger.db, batch)).reasons.map((one) =>
    'scope' in one && one.scope ? `${one.kind} of ${one.scope}` : one.kind,
  );

it('P37: with rows, only the changed rows wait, and a second person lets them go', async () => {
  const { s, batch, parts, claims, approve, states } = await changed();
  expect(await states(batch)).toEqual({ 'D-0': 'ready', 'D-1': 'held', 'D-2': 'ready', 'D-3': 'held' });
  expect(await claims()).toEqual(['D-0', 'D-2']);
  expect(await approve(batch, 'ada'), 'nobody approves what he dropped').toMatchObject({
    why: { kind: 'own' },
  });
  const review = await reviewApproval(parts, batch, person('bola'));
  if (review.kind !== 'may') throw new Error(review.kind);
  expect(await approvalWarnings(parts, review)).toMatchObject({
    waiting: { rows: 2, totals: { NGN: '2000.06' } },
  });
  expect(await approve(batch)).toMatchObject({ kind: 'approved', released: { moved: 2 } });
  expect(await claims()).toEqual(['D-1', 'D-3']);
  expect(await kindsOf(s, batch)).toEqual([]);
  expect(await approve(batch)).toMatchObject({ kind: 'already' });
});

it('P37: the transaction of the intent refuses a marked row without an approval, whatever its state', async () => {
  const { s, batch, claims } = await changed();
  const lost = s.ledger.write((trx) =>
    trx.updateTable('payouts').set({ state: 'ready' }).where('reference', '=', 'D-1').execute(),
  );
  await lost;
  await s.ledger.write((trx) =>
    trx.updateTable('batches').set({ hold_reasons: '[]' }).where('id', '=', batch).execute(),
  );
  expect(await claims(noBrakes, 1)).toEqual(['D-0']);
  await createBrakes({ ledger: s.ledger, clock: s.clock, brakes: noBrakes }).settle();
  expect(await kindsOf(s, batch), 'it gets its reason and its way out').toEqual(['approval']);
});

it('P37: what the service is asked before payment is asked about approved rows too', async () => {
  const { s, batch, approve } = await changed();
  await s.ledger.write((trx) =>
    trx.updateTable('batches').set({ precheck: 'begun' }).where('id', '=', batch).execute(),
  );
  await approve(batch);
  const row = s.ledger.db.selectFrom('batches').select('precheck').where('id', '=', batch);
  expect(await row.executeTakeFirstOrThrow()).toEqual({ precheck: 'due' });
});

it('P21, P37: a hold and its release leave the changed rows waiting, and let the others go', async () => {
  const { s, batch, parts, claims, approve, states } = await changed();
  await holdVerb.run(parts, { batch }, person('cem'));
  expect(await claims()).toEqual([]);
  expect(await releaseVerb.run(parts, { batch }, person('cem'))).toMatchObject({
    released: { moved: 2, stays: [{ kind: 'approval', scope: 'rows' }] },
  });
  expect(await states(batch)).toEqual({ 'D-0': 'ready', 'D-1': 'held', 'D-2': 'ready', 'D-3': 'held' });
  await holdVerb.run(parts, { batch }, person('cem'));
  expect(await approve(batch)).toMatchObject({ others: [{ kind: 'person' }], released: null });
  expect(await claims(), 'the hold stands').toEqual([]);
  await releaseVerb.run(parts, { batch }, person('cem'));
  expect(await claims()).toEqual(['D-0', 'D-1', 'D-2', 'D-3']);
  expect(await kindsOf(s, batch)).toEqual([]);
});

it('P2, P37: a rejection cancels exactly the changed rows, and no approval that was begun before lets them go', async () => {
  const { s, batch, parts, claims, states } = await changed();
  const review = await reviewApproval(parts, batch, person('bola'));
  if (review.kind !== 'may') throw new Error(review.kind);
  const done = await rejectVerb.run(parts, { batch, reason: 'call them first' }, person('cem'));
  expect(done).toMatchObject({ kind: 'batch', done: { cancelled: 2 } });
  const late = await approveReviewed(parts, review, person('bola'));
  expect(late).toMatchObject({ kind: 'refused', why: { kind: 'changed' } });
  expect(await claims()).toEqual(['D-0', 'D-2']);
  expect(await states(batch)).toMatchObject({ 'D-1': 'cancelled', 'D-3': 'cancelled' });
  expect(await kindsOf(s, batch)).toEqual([]);
});

it('P2, P37: a rejection that a crash cut off is not undone by a release, and can be repeated', async () => {
  const { s, batch, parts, claims, states } = await changed();
  const review = await reviewApproval(parts, batch, person('cem'));
  if (review.kind !== 'may') throw new Error(review.kind);
  await s.ledger.write((trx) => claimRejection(trx, review));
  await releaseVerb.run(parts, { batch }, person('dayo'));
  expect(await kindsOf(s, batch)).toEqual(['cancelled of rows']);
  expect(await claims()).toEqual(['D-0', 'D-2']);
  await rejectVerb.run(parts, { batch, reason: 'call them first' }, person('cem'));
  expect(await states(batch)).toMatchObject({ 'D-1': 'cancelled', 'D-3': 'cancelled' });
  expect(await kindsOf(s, batch)).toEqual([]);
});

it('P37: a row that was rejected is a changed one next month again', async () => {
  const { s, batch, parts, claims } = await changed();
  await rejectVerb.run(parts, { batch, reason: 'call them first' }, person('cem'));
  await claims();
  await s.ledger.write((trx) =>
    trx.updateTable('payouts').set({ state: 'success' }).where('state', '=', 'sending').execute(),
  );
  s.clock.advance(30 * day);
  const half = moved.map((one, i) => (i === 1 ? one : (people[i] ?? one)));
  const checked = await s.intake.check(s.drop('january.csv', fileOf(half, 'J')));
  expect(checked.compared).toMatchObject({ with: batch, accountChanged: 1 });
  expect(checked.holdReasons).toMatchObject([{ kind: 'approval', scope: 'rows', why: { rows: [3] } }]);
});

it('P37: a rejected row that pays the account of a colleague is a changed one next month too', async () => {
  const toColleague = people.map((one, i) => (i === 1 ? { ...one, account: people[0]?.account ?? '' } : one));
  const { s, batch, parts } = await changed(toColleague);
  await rejectVerb.run(parts, { batch, reason: 'call them first' }, person('cem'));
  s.clock.advance(30 * day);
  const checked = await s.intake.check(s.drop('january.csv', fileOf(toColleague, 'J')));
  expect(checked.compared).toMatchObject({ with: batch, accountChanged: 1 });
});

it('P37: once the last changed row is cancelled, nothing of the batch waits', async () => {
  const { s, batch, parts } = await changed();
  await cancelVerb.run(parts, { reference: 'D-1' }, person('cem'));
  expect(await kindsOf(s, batch)).toEqual(['approval of rows']);
  await cancelVerb.run(parts, { reference: 'D-3' }, person('cem'));
  expect(await kindsOf(s, batch)).toEqual([]);
});

it('P21, P37: a canary is of the rows that may go, and approved rows wait until it has settled', async () => {
  const { s, batch, claims, approve } = await changed();
  const canary: Brakes = { ...noBrakes, canary: 2, canaryHours: 4 };
  expect(await claims(canary, 1)).toEqual(['D-0']);
  await approve(batch);
  expect(await claims(canary)).toEqual(['D-2']);
  expect(await claims(canary)).toEqual([]);
  const waits = await createBrakes({ ledger: s.ledger, clock: s.clock, brakes: canary }).waits();
  expect(waits).toMatchObject([{ kind: 'canary', count: 2, failed: false }]);
  await s.ledger.write((trx) =>
    trx.updateTable('payouts').set({ state: 'success' }).where('state', '=', 'sending').execute(),
  );
  expect(await claims(canary)).toEqual(['D-1', 'D-3']);
});

it('P37: where a whole file looks wrong, all of it waits', async () => {
  const list = people.map((one) => ({ ...one, minor: one.minor * 100n }));
  const even = list.map((one) => ({ ...one, minor: one.minor - (one.minor % 10_000n) }));
  const { s, batch, claims } = await changed(even);
  expect(await kindsOf(s, batch)).toEqual(['approval']);
  expect(await claims()).toEqual([]);
});

it('P37: only a hundredfold row waits; a batch whose rows are all changed waits whole, row by row', async () => {
  const one = people.map((p, i) => (i === 0 ? { ...p, minor: p.minor * 100n } : p));
  const first = await changed(one);
  expect(await first.claims()).toEqual(['D-1', 'D-2', 'D-3']);
  const all = await changed(people.map((p, i) => ({ ...p, account: `800000000${i}` })));
  expect(await all.claims()).toEqual([]);
  expect(await all.approve(all.batch)).toMatchObject({ released: { moved: 4 } });
});

it('P37: verify names a changed row that was sent without an approval', async () => {
  const { s, claims } = await changed();
  await claims();
  const { problems: none } = await ordersOf(s);
  expect(none).toEqual([]);
  await s.ledger.write((trx) =>
    trx.updateTable('payouts').set({ attempt_count: 1n }).where('reference', '=', 'D-1').execute(),
  );
  expect((await ordersOf(s)).problems.join()).toContain(
    'D-1: it was sent without the approval that its row needed',
  );
});

it('P37: verify names a comparison that does not agree with its rows, and marks that do not agree with it', async () => {
  const { s, batch } = await changed();
  const payees = async () =>
    wordedChecks((await verifyLedger(s.ledger.place)).checks).find(({ name }) => name === 'payees');
  expect((await payees())?.problems).toEqual([]);
  const row = s.ledger.db.selectFrom('payee_comparisons').select('found').where('batch_id', '=', batch);
  const { found } = await row.executeTakeFirstOrThrow();
  const put = (text: string, digest?: string) =>
    s.ledger.write((trx) =>
      trx
        .updateTable('payee_comparisons')
        .set({ found: text, ...(digest !== undefined && { digest }) })
        .where('batch_id', '=', batch)
        .execute(),
    );
  for (const [text, problem] of [
    ['{}', 'cannot be read'],
    [found.replace('9000000001', '9000000009'), 'the digest of what changed'],
    [found.replace('"accountChanged":2', '"accountChanged":1'), 'the digest of what changed'],
    [
      found.replace(/"totalsNow":\{"NGN":"[^"]*"/, '"totalsNow":{"NGN":"1.00"'),
      'its comparison has the total',
    ],
  ] as const) {
    await put(text);
    expect((await payees())?.problems.join(), problem).toContain(problem);
  }
  await put(found);
  await tamper(s.ledger, "update payouts set approval_needed = 0 where reference = 'D-3'");
  expect((await payees())?.problems.join()).toContain('D-3 changed, and needs no approval');
  await tamper(s.ledger, "update payouts set account_number = '9000000007' where reference = 'D-1'");
  expect((await payees())?.problems.join()).toContain('of D-1, which the payout does not');
});

async function ordersOf(s: Setting): Promise<{ problems: string[] }> {
  const { checks } = await verifyLedger(s.ledger.place);
  return wordedChecks(checks).find(({ name }) => name === 'orders') ?? { problems: ['not checked'] };
}

it('P37: nothing changes a mark after the intake', async () => {
  const { s, batch } = await changed();
  const erase = s.ledger.write((trx) =>
    trx.updateTable('payouts').set({ approval_needed: 0n }).where('batch_id', '=', batch).execute(),
  );
  await expect(erase).rejects.toThrow('what needs an approval is frozen at intake');
});

it('P37: rows that were rejected do not go with a later approval of their batch, whatever cut the rejection off', async () => {
  const { s, batch, parts, claims, approve, states } = await changed();
  const found = await reviewApproval(parts, batch, person('bola'));
  if (found.kind !== 'may') throw new Error(found.kind);
  await s.ledger.write((trx) => claimRejection(trx, found));
  Object.assign(s.config.submission, { approval: 'always' });
  expect(await approve(batch, 'cem')).toMatchObject({ kind: 'approved' });
  const brakes: Brakes = { ...noBrakes, approval: 'always' };
  await createBrakes({ ledger: s.ledger, clock: s.clock, brakes }).settle();
  expect(await claims(brakes)).toEqual(['D-0', 'D-2']);
  expect(await kindsOf(s, batch), 'what ends them is still named').toEqual(['cancelled of rows']);
  await rejectVerb.run(parts, { batch, reason: 'fraud' }, person('bola'));
  expect(await states(batch)).toMatchObject({ 'D-1': 'cancelled', 'D-3': 'cancelled' });
});
