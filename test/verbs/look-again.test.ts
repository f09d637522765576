import { expect, it } from 'vitest';
import { holdReasonsOf } from '../../src/core/ledger/hold-reasons.ts';
import { confirmFiles } from '../../src/intake/confirm.ts';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { approveVerb, reviewApproval } from '../../src/verbs/approve.ts';
import { releaseVerb } from '../../src/verbs/release.ts';
import type { Person } from '../../src/verbs/verb.ts';
import { anyDay, batchOf, csv, row, setting } from '../intake/setting.ts';
import { claimAt } from '../support/ledger.ts';

const cem: Person = { name: 'cem', noted: 'cem', accounts: [{ name: 'cem', uid: null }] };
const payoutLimit = { NGN: '500.00' };

/** A batch that waits for a yes, and a limit of a payout that was set after its intake. */
async function waiting(yaml: string, content: string, brakes: Partial<Brakes> = {}) {
  const s = await setting(yaml);
  const { ledger, clock, config } = s;
  const posted = { origin: 'posted', behind: { name: 'ada', uid: null } } as const;
  const batch = batchOf(await s.intake.takeIn(s.drop('a.csv', content), posted));
  const parts = { ledger, clock, config: { ...config, submission: { ...config.submission, payoutLimit } } };
  const claim = async () => {
    await confirmFiles(s, anyDay);
    const claimed = await claimAt(ledger, clock.iso(), 10, 'w-1', { ...noBrakes, payoutLimit, ...brakes });
    return claimed.map(({ reference }) => reference);
  };
  const kinds = async () => (await holdReasonsOf(ledger.db, batch)).reasons.map(({ kind }) => kind);
  return { parts, batch, claim, kinds, release: () => releaseVerb.run(parts, { batch }, cem) };
}

it('a release for another reason lets nothing go above a limit that nobody was shown', async () => {
  const alike = csv(row('A', '1000.00'), row('B', '1000.00'));
  const { batch, claim, kinds, release } = await waiting('', alike);
  expect(await kinds()).toEqual(['repeated_row']);
  expect(await release()).toMatchObject({
    batch,
    released: { moved: 0, stays: [{ kind: 'payout_limit', count: 2, first: [{ row: 2 }, { row: 3 }] }] },
  });
  expect(await claim()).toEqual([]);
  expect(await release()).toMatchObject({ released: { moved: 2, stays: [] } });
  expect(await claim()).toEqual(['A', 'B']);
});

it.each(['500.00', '400.00'])(
  'an approval does not ask again about what a release let go, unless more is above the limit (%s)',
  async (limit) => {
    const two = csv(row('A', '1000.00'), row('B', '450.00', '0123456786'));
    const always = { approval: 'always' } as const;
    const rules = 'submission: { approval: always, payout_limit: { NGN: "500.00" } }';
    const { parts, batch, claim, kinds, release } = await waiting(rules, two, always);
    expect(await kinds()).toEqual(['payout_limit', 'approval']);
    await release();
    expect(await kinds()).toEqual(['approval']);
    const review = await reviewApproval(parts, batch, cem);
    if (review.kind !== 'may') throw new Error(review.kind);
    parts.config.submission.payoutLimit = { NGN: limit };
    const others = limit === '500.00' ? [] : [{ kind: 'payout_limit', count: 2 }];
    const order = { batch, digest: review.shown.digest };
    expect(await approveVerb.run(parts, order, cem)).toMatchObject({ kind: 'approved', others });
    expect(await claim()).toEqual(others.length === 0 ? ['A', 'B'] : []);
  },
);

it('an approval lets nothing go above such a limit', async () => {
  const always = { approval: 'always' } as const;
  const set = await waiting('submission: { approval: always }', csv(row('A', '1000.00')), always);
  const { parts, batch, claim, release } = set;
  const review = await reviewApproval(parts, batch, cem);
  if (review.kind !== 'may') throw new Error(review.kind);
  expect(await approveVerb.run(parts, { batch, digest: review.shown.digest }, cem)).toMatchObject({
    kind: 'approved',
    others: [{ kind: 'payout_limit' }],
  });
  expect(await claim()).toEqual([]);
  expect(await release()).toMatchObject({ released: { moved: 1 } });
  expect(await claim()).toEqual(['A']);
});
