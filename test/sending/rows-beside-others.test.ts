import { describe, expect, it } from 'vitest';
import { holdReasonsOf } from '../../src/core/ledger/hold-reasons.ts';
import type { Trx } from '../../src/core/storage/ledger.ts';
import { alikeSince } from '../../src/intake/alike-meanwhile.ts';
import { confirmFiles } from '../../src/intake/confirm.ts';
import { claimRejection } from '../../src/sending/approvals.sql.ts';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { sendable } from '../../src/sending/claims.sql.ts';
import { createDecisions } from '../../src/sending/decisions/decisions.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { approvalWarnings, approveReviewed, approveVerb, reviewApproval } from '../../src/verbs/approve.ts';
import { holdVerb } from '../../src/verbs/hold.ts';
import { rejectVerb } from '../../src/verbs/reject.ts';
import { releaseVerb } from '../../src/verbs/release.ts';
import { rowFaultText } from '../../src/words/row-fault-words.ts';
import { fileOf, type Person } from '../intake/payee-months.ts';
import { anyDay, csv, head, row, type Setting, setting } from '../intake/setting.ts';
import { claimAt, recordOutcome, replies, states } from '../support/ledger.ts';

const day = 86_400_000;
const rows = 'submission: { payees: approve_changed, on_changed: rows }';
const strict: Brakes = { ...noBrakes, payees: 'approve_changed' };
const people: Person[] = [1, 2, 3, 4].map((n) => ({
  ...{ id: `E${n}`, name: `Person Number${n}`, bank: '058' },
  ...{ account: `012345678${n}`, minor: 100_000n + BigInt(n) },
}));
/** The second and the fourth row pay another account. */
const moved = people.map((one, i) => (i % 2 === 1 ? { ...one, account: `900000000${i}` } : one));
const cem = { name: 'cem', noted: 'cem', accounts: [{ name: 'cem', uid: null }] };

async function take(s: Setting, name: string, content: string): Promise<string> {
  const options = { origin: 'posted', behind: { name: 'ada', uid: null } } as const;
  const taken = await s.intake.takeIn(s.drop(name, content), options);
  if (taken.kind !== 'taken') throw new Error(JSON.stringify(taken));
  return taken.batch;
}

const pay = (s: Setting, batch: string): Promise<unknown> =>
  s.ledger.write(async (trx) => {
    const paid = { state: 'success', submitted_at: s.clock.iso() } as const;
    await trx.updateTable('payouts').set(paid).where('batch_id', '=', batch).execute();
    const free = { held: 0n, hold_reasons: '[]' };
    await trx.updateTable('batches').set(free).where('id', '=', batch).execute();
  });

function handsOn(s: Setting) {
  const { ledger, clock, config } = s;
  const rules = { referencePrefix: '', payoutLimit: {} };
  const alike = (trx: Trx, ids: readonly bigint[], at: string) => alikeSince(trx, ids, { config, at });
  const decisions = createDecisions({ ledger, clock, rules, say: rowFaultText, alike });
  const reporting = { writeDueBatchResults: async () => [], writeIndex: async () => {} };
  const parts = { ledger, clock, config, decisions, reporting } as never;
  return {
    decisions,
    parts,
    send: async (outcome: 'refused' | 'accepted', brakes = strict) => {
      await confirmFiles(s, anyDay);
      await createBrakes({ ledger, clock, brakes }).settle();
      const claimed = await claimAt(ledger, clock.iso(), 100, 'w-1', brakes);
      for (const one of claimed) await recordOutcome(ledger, clock.iso(), one, replies[outcome]());
      return claimed.map(({ reference }) => reference);
    },
    retry: async (reference: string) => {
      const ids = (await decisions.find([reference])).payouts.map(({ id }) => id);
      const since = clock.iso();
      const { digest } = await decisions.weigh(ids, since);
      return decisions.retry({ ids, since, digest, person: 'femi' });
    },
    approve: async (batch: string) => {
      const review = await reviewApproval(parts, batch, cem);
      if (review.kind !== 'may') throw new Error(review.kind);
      return approveVerb.run(parts, { batch, digest: review.shown.digest }, cem);
    },
    kinds: async (batch: string) =>
      (await holdReasonsOf(ledger.db, batch)).reasons.map((one) =>
        'scope' in one && one.scope ? `${one.kind} of ${one.scope}` : one.kind,
      ),
  };
}

/** A month that was paid whole, and the next one, of which two rows changed and wait. */
async function changed() {
  const s = await setting(rows);
  await pay(s, await take(s, 'november.csv', fileOf(people, 'N')));
  s.clock.advance(30 * day);
  const batch = await take(s, 'december.csv', fileOf(moved, 'D'));
  return { s, batch, ...handsOn(s) };
}

it('P32: a release ends the wait for an answer of the service, also while changed rows wait', async () => {
  const { s, batch, parts, send } = await changed();
  const wait = { precheck: 'due', precheck_wait: 'the service does not answer' } as const;
  await s.ledger.write((trx) => trx.updateTable('batches').set(wait).where('id', '=', batch).execute());
  await releaseVerb.run(parts, { batch }, cem);
  expect(await send('accepted', { ...strict, looksAhead: true })).toEqual(['D-0', 'D-2']);
});

it.each(['taken', 'rejected'] as const)(
  'P20: of rows that pay again only the changed one waits (%s)',
  async (how) => {
    const s = await setting(rows);
    const { ledger, clock } = s;
    const { decisions, send, parts, kinds } = handsOn(s);
    await take(s, 'a.csv', csv(row('A', '1000.00'), row('B', '1001.00', '0123456786')));
    expect(await send('refused')).toHaveLength(2);
    const ids = (await decisions.find(['A', 'B'])).payouts.map(({ id }) => id);
    const offered = await decisions.rows.offer(ledger.db, ids);
    const again = (n: number, cells: string, of: string) =>
      `${offered[n]?.reference},${cells},NGN,Salary,Acme,${of},${offered[n]?.claim.evidence}`;
    const lines = [
      again(0, '9999999990,Adaeze Okonkwo,058,1000.00', 'A'),
      again(1, '0123456786,Adaeze Okonkwo,058,1001.00', 'B'),
      'C,0123456787,Chi Uba,058,1002.00,NGN,Salary,Acme,,',
    ];
    const batch = await take(s, 'b.csv', [`${head},retry_of,retry_evidence`, ...lines, ''].join('\n'));
    expect(await kinds(batch)).toEqual(['approval of rows']);
    if (how === 'rejected') {
      await rejectVerb.run(parts, { batch, reason: 'no' }, cem);
      await createBrakes({ ledger, clock, brakes: strict }).settle();
      expect(await kinds(batch)).toEqual([]);
    }
    const first = how === 'taken' ? 'held' : 'cancelled';
    expect(await states(ledger)).toMatchObject({ 'A-R2': first, 'B-R2': 'ready', C: 'ready' });
    expect(await send('accepted')).toEqual(['B-R2', 'C']);
  },
);

it('P37: a batch that must wait for a person keeps no other batch back, held or not yet', async () => {
  const s = await setting('submission: { payees: warn }');
  const { ledger, clock } = s;
  const { kinds, send } = handsOn(s);
  await pay(s, await take(s, 'november.csv', fileOf(people, 'N')));
  clock.advance(30 * day);
  const waits = await take(s, 'december.csv', fileOf(moved, 'D'));
  await take(s, 'other.csv', csv(row('O-1', '7.00', '0555555555'), row('O-2', '8.00', '0555555556')));
  await confirmFiles(s, anyDay);
  const page = (): Promise<string[]> =>
    claimAt(ledger, clock.iso(), people.length, 'w-1', strict).then((all) =>
      all.map(({ reference }) => reference),
    );
  expect(await page(), 'taken in under warn, and claimed under approve_changed').toEqual(['O-1', 'O-2']);
  expect((await sendable(ledger.db, { brakes: strict, at: clock.iso() })).ready, 'nor the sender').toBe(0);
  expect(await send('accepted'), 'held now').toEqual([]);
  expect(await kinds(waits)).toEqual(['approval']);
  expect(await page()).toEqual([]);
});

it('P37: an approval lets changed rows go beside a second payment that waits for its own reason', async () => {
  const { s, batch, send, retry, approve, kinds, parts } = await changed();
  expect(await send('refused')).toEqual(['D-0', 'D-2']);
  s.clock.advance(10 * day);
  await pay(s, await take(s, 'extra.csv', fileOf([people[0] as Person], 'X')));
  s.clock.advance(day);
  await retry('D-0');
  expect(await kinds(batch)).toEqual(['approval of rows', 'alike of successors']);
  expect(await approve(batch)).toMatchObject({ kind: 'approved' });
  expect(await send('accepted')).toEqual(['D-1', 'D-3']);
  expect(await kinds(batch)).toEqual(['alike of successors']);
  await releaseVerb.run(parts, { batch }, cem);
  expect(await send('accepted')).toEqual(['D-0-R2']);
  expect(await kinds(batch)).toEqual([]);
});

it.each(['cancelled', 'settled'] as const)(
  'P20, P21: a reason that holds only a second payment ends when that is %s, and holds no other',
  async (how) => {
    const s = await setting();
    const { decisions, send, retry, kinds } = handsOn(s);
    const batch = await take(s, 'a.csv', csv(row('A', '1000.00'), row('B', '1001.00', '0123456786')));
    expect(await send('refused', noBrakes)).toHaveLength(2);
    s.clock.advance(day);
    await take(s, 'c.csv', csv(row('C', '1000.00')));
    await send('accepted', noBrakes);
    expect(await retry('A')).toMatchObject({ decided: [{ reference: 'A-R2', state: 'held' }] });
    expect(await kinds(batch)).toEqual(['alike of successors']);
    const { payouts } = await decisions.find(['A-R2']);
    const ids = payouts.map(({ id }) => id);
    const since = s.clock.iso();
    const { digest } = await decisions.weigh(ids, since);
    if (how === 'cancelled') await decisions.cancel({ batch, payout: ids[0] ?? 0n, person: 'femi' });
    else await decisions.settle({ ids, since, digest, as: 'failed', note: 'C pays it', person: 'femi' });
    expect(await kinds(batch)).toEqual([]);
    expect(await retry('B')).toMatchObject({ decided: [{ reference: 'B-R2', state: 'ready' }] });
  },
);

it('P20: such a reason stays while another second payment waits for it', async () => {
  const s = await setting('submission: { approval: always }');
  const { decisions, send, retry, kinds, approve } = handsOn(s);
  const batch = await take(s, 'a.csv', csv(row('A', '1000.00'), row('B', '1001.00', '0123456786')));
  await approve(batch);
  await send('refused', { ...noBrakes, approval: 'always' });
  await retry('A');
  await retry('B');
  for (const [reference, left] of [
    ['A-R2', ['approval of successors']],
    ['B-R2', []],
  ] as const) {
    const [one] = (await decisions.find([reference])).payouts;
    await decisions.cancel({ batch, payout: one?.id ?? 0n, person: 'femi' });
    expect(await kinds(batch)).toEqual(left);
  }
});

describe('P20: the rejection of a second payment', () => {
  const always: Brakes = { ...noBrakes, approval: 'always' };
  const dated = (pay: string, day: string): string => `${pay},${day}`;

  /** An approved batch of which one payout was refused and is paid again, while another waits for its day. */
  async function paidAgain() {
    const s = await setting('submission: { approval: always }');
    const rest = [dated(row('A', '1000.00'), ''), dated(row('B', '1001.00', '0123456786'), '2026-11-25'), ''];
    const batch = await take(s, 'a.csv', [`${head},pay_on`, ...rest].join('\n'));
    const hands = handsOn(s);
    await hands.approve(batch);
    expect(await hands.send('refused', always)).toEqual(['A']);
    await hands.retry('A');
    expect(await hands.kinds(batch)).toEqual(['approval of successors']);
    return { s, batch, ...hands };
  }

  it('cancels that alone, and no payout of its batch that was approved before', async () => {
    const { s, batch, parts, kinds, send } = await paidAgain();
    const review = await reviewApproval(parts, batch, cem);
    if (review.kind !== 'may') throw new Error(review.kind);
    const { waiting } = await approvalWarnings(parts, review);
    expect(waiting, 'what is asked about').toEqual({ rows: 1, totals: { NGN: '1000.00' } });
    expect(await rejectVerb.run(parts, { batch, reason: 'no' }, cem)).toMatchObject({
      done: { cancelled: 1 },
    });
    expect(await kinds(batch)).toEqual([]);
    expect(await states(s.ledger)).toEqual({ A: 'refused', 'A-R2': 'cancelled', B: 'ready' });
    s.clock.advance(4 * day);
    expect(await send('accepted', always)).toEqual(['B']);
  });

  it('that was cut off lets no approval pass that was begun before it, and can be repeated', async () => {
    const { s, batch, parts, kinds } = await paidAgain();
    const review = await reviewApproval(parts, batch, cem);
    if (review.kind !== 'may') throw new Error(review.kind);
    await s.ledger.write((trx) => claimRejection(trx, review));
    expect(await kinds(batch)).toEqual(['cancelled of successors']);
    expect(await approveReviewed(parts, review, cem)).toMatchObject({ why: { kind: 'changed' } });
    expect(await states(s.ledger)).toMatchObject({ 'A-R2': 'held', B: 'ready' });
    await rejectVerb.run(parts, { batch, reason: 'no' }, cem);
    expect(await kinds(batch)).toEqual([]);
    expect(await states(s.ledger)).toMatchObject({ 'A-R2': 'cancelled', B: 'ready' });
  });

  it('leaves the others alone where a person held and released the batch meanwhile', async () => {
    const { s, batch, parts, kinds, send } = await paidAgain();
    await holdVerb.run(parts, { batch }, cem);
    expect(await states(s.ledger)).toMatchObject({ 'A-R2': 'held', B: 'held' });
    await releaseVerb.run(parts, { batch }, cem);
    expect(await kinds(batch)).toEqual(['approval of successors']);
    expect(await states(s.ledger)).toMatchObject({ 'A-R2': 'held', B: 'ready' });
    await rejectVerb.run(parts, { batch, reason: 'no' }, cem);
    expect(await states(s.ledger)).toMatchObject({ 'A-R2': 'cancelled', B: 'ready' });
    s.clock.advance(4 * day);
    expect(await send('accepted', always)).toEqual(['B']);
  });
});
