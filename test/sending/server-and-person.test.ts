import { expect, it } from 'vitest';
import { holdReasonsOf } from '../../src/core/ledger/hold-reasons.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { confirmFiles } from '../../src/intake/confirm.ts';
import { originOf } from '../../src/sending/approvals.sql.ts';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { approveVerb, reviewApproval } from '../../src/verbs/approve.ts';
import type { Person as Somebody } from '../../src/verbs/verb.ts';
import { fileOf, type Person } from '../intake/payee-months.ts';
import { anyDay, type Setting, setting } from '../intake/setting.ts';
import { claimAt } from '../support/ledger.ts';

const day = 86_400_000;
const url = 'approval: callback, approval_url: "http://127.0.0.1:9/x"';
const people: Person[] = [1, 2, 3, 4].map((n) => ({
  ...{ id: `E${n}`, name: `Person Number${n}`, bank: '058' },
  ...{ account: `012345678${n}`, minor: 100_000n + BigInt(n) },
}));
/** The second and the fourth row pay another account. */
const moved = people.map((one, i) => (i % 2 === 1 ? { ...one, account: `900000000${i}` } : one));

const named = (name: string): Somebody => ({ name, noted: name, accounts: [{ name, uid: null }] });
const server: Somebody = { ...named('callback:example.org'), isServer: true };
const strict: Brakes = { ...noBrakes, approval: 'callback', payees: 'approve_changed' };
const tight = { approval: 'callback', payees: 'approve_changed' } as const;

async function take(s: Setting, name: string, list: readonly Person[], prefix: string): Promise<string> {
  const options = { origin: 'posted', behind: { name: 'ada', uid: null } } as const;
  const taken = await s.intake.takeIn(s.drop(name, fileOf([...list], prefix)), options);
  if (taken.kind !== 'taken') throw new Error(JSON.stringify(taken));
  return taken.batch;
}

/** A month that was paid whole, and the next one, of which two rows changed. */
async function changed(submission: string) {
  const s = await setting(`submission: { ${submission} }`);
  const { ledger, clock } = s;
  const november = await take(s, 'november.csv', people, 'N');
  await ledger.write(async (trx) => {
    await trx.updateTable('payouts').set({ state: 'success' }).where('batch_id', '=', november).execute();
    const free = { held: 0n, hold_reasons: '[]' };
    await trx.updateTable('batches').set(free).where('id', '=', november).execute();
  });
  clock.advance(30 * day);
  const batch = await take(s, 'december.csv', moved, 'D');
  return {
    ...{ s, batch, ledger },
    settle: (brakes: Brakes = strict) => createBrakes({ ledger, clock, brakes }).settle(),
    yes: async (who: Somebody, today: object = {}) => {
      const config = { ...s.config, submission: { ...s.config.submission, ...today } };
      const review = await reviewApproval({ ledger, config }, batch, who);
      if (review.kind !== 'may') return review.kind;
      const { digest } = review.shown;
      return (await approveVerb.run({ ledger, clock, config }, { batch, digest }, who)).kind;
    },
    claims: async (brakes: Brakes = strict) => {
      await confirmFiles(s, anyDay);
      await createBrakes({ ledger, clock, brakes }).settle();
      return (await claimAt(ledger, clock.iso(), 100, 'w-1', brakes)).map(({ reference }) => reference);
    },
    causes: async () => {
      const { reasons } = await holdReasonsOf(ledger.db, batch);
      return reasons.map((one) => (one.kind === 'approval' ? one.why.kind : one.kind));
    },
  };
}

const all = ['D-0', 'D-1', 'D-2', 'D-3'];

it.each([
  ['warn', 'payees'],
  ['off', 'unapproved'],
] as const)(
  'P37: taken in under %s, a yes of the server under a tighter rule leaves the person due',
  async (payees, why) => {
    const c = await changed(`${url}, payees: ${payees}`);
    await c.settle();
    expect(await c.yes(server, tight)).toBe('approved');
    expect(await c.causes()).toEqual([why]);
    expect([await c.claims(), await c.causes()]).toEqual([[], [why]]);
    expect(await c.yes(named('bola'), tight)).toBe('approved');
    expect(await c.claims()).toEqual(all);
  },
);

it.each(['warn', 'off'] as const)(
  'P37: a yes of the server under %s is none for payees once the rule is tighter',
  async (payees) => {
    const c = await changed(`${url}, payees: ${payees}`);
    await c.yes(server);
    // Nobody has held the batch yet: the claim itself refuses.
    await confirmFiles(c.s, anyDay);
    await createBrakes({ ...c.s, brakes: { ...noBrakes, approval: 'callback' } }).settle();
    expect(await claimAt(c.ledger, c.s.clock.iso(), 100, 'w-1', strict)).toEqual([]);
    expect(await c.claims()).toEqual([]);
    await c.yes(server, tight);
    expect(await c.claims()).toEqual([]);
    expect(await c.causes()).not.toContain('callback');
    expect(await c.yes(named('bola'), tight)).toBe('approved');
    expect(await c.claims()).toEqual(all);
    const [one] = await c.ledger.db
      .selectFrom('payouts')
      .selectAll()
      .where('reference', '=', 'D-1')
      .execute();
    expect(one && (await originOf(c.ledger.db, one))).toMatchObject({ approved_by: 'bola' });
  },
);

it('P37: a person approves over a yes of the server before anything holds the batch', async () => {
  const c = await changed(`${url}, payees: warn`);
  await c.yes(server);
  expect(await c.yes(named('bola'), tight)).toBe('approved');
  expect(await c.claims()).toEqual(all);
});

it('P37: a server does not answer for a batch that was not compared', async () => {
  const c = await changed('payees: off');
  expect(await c.claims({ ...noBrakes, payees: 'approve_changed' })).toEqual([]);
  expect(await c.causes()).toEqual(['unapproved']);
  await c.yes(server, tight);
  expect(await c.claims()).toEqual([]);
  expect(await c.causes()).toContain('unapproved');
  await c.yes(named('bola'), tight);
  expect(await c.claims()).toEqual(all);
});

it('P37: where only changed rows wait for a person, a yes of the server lets exactly the others go', async () => {
  const c = await changed(`${url}, payees: approve_changed, on_changed: rows`);
  expect(await c.claims()).toEqual([]);
  expect(await c.yes(server)).toBe('approved');
  expect(await c.claims()).toEqual(['D-0', 'D-2']);
  expect(await c.causes()).toEqual(['payees']);
  // Another process that asked meanwhile records nothing more.
  await c.yes(server);
  expect(await c.ledger.db.selectFrom('approvals').select('approved_by').execute()).toHaveLength(1);
  expect(await c.yes(named('bola'))).toBe('approved');
  expect(await c.claims()).toEqual(['D-1', 'D-3']);
  const { checks } = await verifyLedger(c.ledger.place);
  expect(checks.find(({ name }) => name === 'orders')).toMatchObject({ ok: true });
});

it.each([
  ['always', { approval: 'always' }],
  ['above', { approval: 'above', approvalAbove: { NGN: '1.00' } }],
] as const)('P2: a yes of the server is none once submission.approval is %s', async (why, today) => {
  const c = await changed(`${url}, payees: off`);
  await c.yes(server);
  await confirmFiles(c.s, anyDay);
  const brakes: Brakes = { ...noBrakes, ...today };
  // Nobody has held the batch yet: the claim itself refuses.
  expect(await claimAt(c.ledger, c.s.clock.iso(), 100, 'w-1', brakes)).toEqual([]);
  expect([await c.claims(brakes), await c.causes()]).toEqual([[], [why]]);
  await c.yes(server, today);
  expect(await c.claims(brakes)).toEqual([]);
  expect(await c.yes(named('bola'), today)).toBe('approved');
  expect(await c.claims(brakes)).toEqual(all);
});

it.each([
  ['off', 'approve_changed', 'unapproved'],
  ['off', 'approve_new', 'unapproved'],
  ['warn', 'approve_new', 'payees'],
] as const)('P37: an approval under payees: %s is none of what %s asks for', async (before, payees, why) => {
  const c = await changed(`approval: always, payees: ${before}`);
  expect(await c.yes(named('bola'))).toBe('approved');
  const brakes: Brakes = { ...noBrakes, approval: 'always', payees };
  await confirmFiles(c.s, anyDay);
  expect(await claimAt(c.ledger, c.s.clock.iso(), 100, 'w-1', brakes)).toEqual([]);
  expect(await c.claims(brakes)).toEqual([]);
  expect(await c.causes()).toContain(why);
  expect(await c.yes(named('bola'), { payees })).toBe('approved');
  expect(await c.yes(named('chi'), { payees }), 'once is enough').toBe('already');
  expect(await c.claims(brakes)).toEqual(all);
  const { checks } = await verifyLedger(c.ledger.place);
  const own = checks.filter(({ name }) => name === 'orders' || name === 'payees');
  expect(own).toMatchObject([{ ok: true }, { ok: true }]);
});

it('P37: an approval that showed the changed payees covers them under a tighter rule too', async () => {
  const c = await changed('approval: always, payees: warn');
  expect(await c.yes(named('bola'))).toBe('approved');
  expect(await c.claims({ ...noBrakes, approval: 'always', payees: 'approve_changed' })).toEqual(all);
});
