import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AttemptOutcome } from '../../src/core/domain/outcome.ts';
import { record } from '../../src/core/ledger/record.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { claim, sendable } from '../../src/sending/claims.sql.ts';
import { halt, liftHalt, tooManyUnknown } from '../../src/sending/halts.sql.ts';
import { holdBatch, releaseBatch } from '../../src/sending/holds.sql.ts';
import { lanesOf } from '../../src/sending/lanes.sql.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import {
  addBatch,
  at,
  born,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  states,
  type TestLedger,
} from '../support/ledger.ts';

/** Nothing is allowed but what was never sent. */
const noneAgain = { originId: 0n, cleared: new Map<bigint, bigint>() };

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const named = (n: number, prefix = 'R'): string[] =>
  Array.from({ length: n }, (_, i) => `${prefix}-${i + 1}`);
const claimedNames = async (ms: number, limit = 10) =>
  (await claimAt(ledger, at(ms), limit)).map((c) => c.reference);

describe('P2: the transaction of the intent checks everything again', () => {
  it('P1: claims in the order of the file, no more than there are free slots, each payout once', async () => {
    await addBatch(ledger, named(5));
    expect(await claimedNames(0, 0)).toEqual([]);
    expect(await claimedNames(0, 2)).toEqual(['R-1', 'R-2']);
    expect(await claimedNames(1)).toEqual(['R-3', 'R-4', 'R-5']);
    expect(await claimedNames(2)).toEqual([]);
  });

  it('P8: what was turned away under a clock that ran ahead goes out once the clock is right again', async () => {
    const year = 365 * 86_400_000;
    await addBatch(ledger, named(1));
    const [one] = await claimAt(ledger, at(year));
    if (!one) throw new Error('nothing was claimed');
    await recordOutcome(ledger, at(year), one, replies.turnedAway(60_000));
    const asked = { kind: 'looked_up' as const, found: false };
    const told = { payoutId: one.payoutId, source: 'details', event: asked };
    await ledger.write((trx) => record(trx, at(year), [told]));
    expect(await claimedNames(year + 59_999), 'its Retry-After').toEqual([]);
    const under = { brakes: noBrakes, at: at(0) };
    expect(await sendable(ledger.db, under)).toMatchObject({ ready: 1, nextAt: null });
    const brakes = { ...noBrakes, dailyLimit: { NGN: '1500.00' } };
    const held = await ledger.write((trx) => lanesOf(trx, { ...under, brakes }));
    expect(
      held?.lanes.map(({ waits }) => waits),
      'the day it was counted for is not today',
    ).toEqual([null]);
    expect(await claimedNames(0)).toEqual(['R-1']);
  });

  it('P2: hands out the frozen body as intake wrote it', async () => {
    await addBatch(ledger, ['R-1'], { body: '{"frozen":"at intake"}' });
    expect(await claimAt(ledger, at(0))).toMatchObject([
      { reference: 'R-1', body: '{"frozen":"at intake"}' },
    ]);
  });

  it('P2: nothing while the mode is halted; a further cause joins the first, and its time stands', async () => {
    await addBatch(ledger, ['R-1']);
    await ledger.write((trx) =>
      halt(trx, { kind: 'account', code: '10', message: 'no balance', reference: 'R-9' }, at(0)),
    );
    await ledger.write((trx) => halt(trx, { kind: 'person' }, at(1)));
    expect(await claimedNames(2)).toEqual([]);
    expect(await haltInWords(ledger.db)).toEqual({
      cause: 'the service answered 10 (no balance) to R-9; also: held by a person',
      at: at(0),
      kinds: ['account', 'person'],
    });
    expect(await ledger.write((trx) => liftHalt(trx, { at: at(3) }))).toMatchObject({
      causes: [{ kind: 'account' }, { kind: 'person' }],
    });
    expect(await claimedNames(4)).toEqual(['R-1']);
  });

  it('P21: not what is held, until it is released', async () => {
    await addBatch(ledger, ['R-1', 'R-2']);
    const hold = { batch: 'b-1', reason: { kind: 'person' as const }, at: at(0) };
    await claimAt(ledger, at(0));
    expect(await holdBatch(ledger, hold)).toBe(1);
    expect(await states(ledger)).toEqual({ 'R-1': 'sending', 'R-2': 'held' });
    expect(await claimedNames(1)).toEqual([]);
    await releaseBatch(ledger, hold);
    expect(await claimedNames(2)).toEqual(['R-2']);
  });

  it('P8: not what must be looked up first, nor before its time', async () => {
    await addBatch(ledger, ['R-1']);
    const [one] = await claimAt(ledger, at(0));
    if (!one) throw new Error('nothing was claimed');
    await recordOutcome(ledger, at(0), one, replies.turnedAway(5000));
    const claimWith = (cleared: ReadonlyMap<bigint, bigint>) =>
      ledger.write((trx) =>
        claim(trx, {
          ...noneAgain,
          workerId: 'w',
          limit: 9,
          at: at(9000),
          brakes: noBrakes,
          cleared,
        }),
      );
    expect(await claimWith(new Map()), 'P31: the service is asked first').toEqual([]);
    expect(await claimWith(new Map([[one.payoutId, 0n]])), 'the answer is older than the attempt').toEqual(
      [],
    );
    expect(await claimedNames(4999), 'Retry-After').toEqual([]);
    expect(await claimedNames(5000)).toEqual(['R-1']);
  });

  it('P2: not from a batch that is still loading, or cancelled', async () => {
    await addBatch(ledger, ['R-1'], { id: 'b-1', phase: 'loading' });
    await addBatch(ledger, ['R-2'], { id: 'b-2', phase: 'cancelled' });
    expect(await claimedNames(0)).toEqual([]);
  });

  it('P2: only of the batches asked for', async () => {
    await addBatch(ledger, ['R-1'], { id: 'b-1' });
    await addBatch(ledger, ['R-2'], { id: 'b-2' });
    const of = (batches: string[]) =>
      ledger.write((trx) =>
        claim(trx, {
          workerId: 'w',
          limit: 9,
          at: at(0),
          batches,
          brakes: noBrakes,
          ...noneAgain,
        }),
      );
    expect((await of(['b-2', 'b-live'])).map((c) => c.reference)).toEqual(['R-2']);
    expect(await claimedNames(0)).toEqual(['R-1']);
  });
});

it('P1: two processes on one ledger claim disjoint payouts', async () => {
  await addBatch(ledger, named(40));
  const other = await openLedger(ledger.path, { now: () => born });
  const mine: string[] = [];
  const theirs: string[] = [];
  while (mine.length + theirs.length < 40) {
    const [a, b] = await Promise.all([claimAt(ledger, at(0), 3, 'w-1'), claimAt(other, at(0), 3, 'w-2')]);
    mine.push(...a.map((c) => c.reference));
    theirs.push(...b.map((c) => c.reference));
  }
  await other.close();
  expect([...mine, ...theirs].sort()).toEqual(named(40).sort());
  expect(mine.length).toBeGreaterThan(0);
  expect(theirs.length).toBeGreaterThan(0);
});

describe('P11: too many unknown outcomes', () => {
  const count = (inARow = 3) => ledger.write((trx) => tooManyUnknown(trx, inARow));
  const ends: Record<string, () => AttemptOutcome> = {
    u: () => replies.unknown(),
    a: () => replies.accepted(String(now)),
    n: () => ({ kind: 'not_sent', message: '' }),
  };
  /** One attempt after the other, `u` unknown, `a` accepted and `n` not sent, a millisecond apart. */
  async function answered(outcomes: string): Promise<void> {
    for (const one of outcomes) {
      now += 1;
      const [claimed] = await claimAt(ledger, at(now));
      if (!claimed) throw new Error('nothing left to claim');
      await recordOutcome(ledger, at(now), claimed, ends[one]?.() ?? replies.unknown());
    }
  }
  let now = 0;
  beforeEach(async () => {
    now = 0;
    await addBatch(ledger, named(60));
  });

  it('P11: three in a row are too many, and an acceptance between them restarts the count', async () => {
    await answered('uuauu');
    expect(await count()).toBeNull();
    await answered('u');
    expect(await count()).toEqual({ kind: 'unknowns', count: 3, of: 3 });
    expect(await count(0), '0 switches it off').toBeNull();
  });

  it('P11: what was never sent parts no two that are unknown', async () => {
    await answered('ununn');
    expect(await count()).toBeNull();
    await answered('u');
    expect(await count()).toEqual({ kind: 'unknowns', count: 3, of: 3 });
  });

  it('P11: a fifth of the last 50 is too many, one less is not', async () => {
    await answered(`aaaaa${'uaaaa'.repeat(9)}`);
    expect(await count()).toBeNull();
    await answered('u');
    expect(await count()).toEqual({ kind: 'unknowns', count: 10, of: 50 });
  });

  it('P11: after a release counting begins anew', async () => {
    await answered('uuu');
    await ledger.write((trx) => liftHalt(trx, { at: at(now) }));
    expect(await count()).toBeNull();
    await answered('uu');
    expect(await count()).toBeNull();
    await answered('u');
    expect(await count()).not.toBeNull();
  });

  it('P11: they are counted in the order in which they came in, not in which they were sent', async () => {
    const [first, ...rest] = await claimAt(ledger, at(0), 4);
    if (!first) throw new Error('nothing was claimed');
    for (const [i, one] of rest.entries()) await recordOutcome(ledger, at(i + 1), one, replies.unknown());
    expect(await count()).not.toBeNull();
    await recordOutcome(ledger, at(10), first, replies.accepted());
    expect(await count()).toBeNull();
  });
});
