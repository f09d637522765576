import { expect, it, onTestFinished } from 'vitest';
import { barrierKeys, raiseBarrier } from '../../src/core/ledger/barriers.ts';
import { haltText } from '../../src/faces/terminal/kit/describe.ts';
import { haltAdvice, haltKindOf, readHaltCause } from '../../src/sending/halt.ts';
import { findHaltCauses, halt } from '../../src/sending/halts.sql.ts';
import { haltCauseText, haltInWords } from '../../src/words/halt-words.ts';
import { makeLedger } from '../support/ledger.ts';

const at = '2026-11-21T10:00:00.000Z';
const terminal = { time: (instant: string | null) => `at ${instant}` };

it('P11: the advice comes from what halted, not from the words of the service', () => {
  const cause = 'the service answered 13 (unknown merchant answered 22) to R-1';
  expect(haltText({ at, cause, kinds: [haltKindOf('13')] }, terminal)).toBe(
    `since at ${at}: ${cause}. When the cause is gone: counterfoil release --mode`,
  );
  expect(haltText({ at, cause: 'x', kinds: [haltKindOf('22')] }, terminal)).toContain(
    'First counterfoil doctor',
  );
  expect(haltText({ at, cause: 'x', kinds: ['unknowns'] }, terminal)).toContain(
    'First counterfoil reconcile',
  );
  const barrier = haltText({ at, cause: 'it was moved', kinds: ['barrier'] }, terminal);
  expect(barrier, 'a barrier names its own way out').toBe(`since at ${at}: it was moved.`);
});

it('of several causes the most urgent gives the advice', () => {
  expect(haltAdvice(['person', 'canary_open', 'signature'])).toBe('doctor');
  expect(haltAdvice(['canary_failed', 'canary_open'])).toBe('reconcile');
  expect(haltAdvice(['person', 'account', 'canary_failed'])).toBe('none');
});

it('a cause is worded from what it is', () => {
  const failure = { kind: 'withheld' as const, reference: 'R-1' };
  expect(
    haltCauseText([
      { kind: 'unknowns', count: 3, of: 3 },
      { kind: 'unknowns', count: 12, of: 50 },
      { kind: 'canary_failed', batch: 'b-1', failure },
    ]),
  ).toBe(
    '3 unknown outcomes in a row; also: 12 of the last 50 outcomes are unknown; also: the canary of b-1 failed: R-1 is held, and cannot be sent; counterfoil show R-1 says why',
  );
});

it('loses no cause that it cannot read', () => {
  expect(() => readHaltCause('{"kind":"another"}')).toThrow();
  expect(() => readHaltCause('held by a person')).toThrow();
});

it('a barrier of the ledger ends no other cause, so that nobody is told that one is over', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  await ledger.write((trx) => halt(trx, { kind: 'person' }, at));
  await ledger.write((trx) => raiseBarrier(trx, barrierKeys.listing, { at, why: 'adopted', advice: null }));
  expect((await findHaltCauses(ledger.db)).map(({ kind }) => kind)).toEqual(['barrier', 'person']);
});

it('a barrier that is stored in words, as an earlier version did, still stops all sending and says them', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const value = `${at} it went back in time: adopt it`;
  await ledger.db.insertInto('meta').values({ key: barrierKeys.behind, value }).execute();
  expect(await haltInWords(ledger.db)).toEqual({
    at,
    cause: 'it went back in time: adopt it',
    kinds: ['barrier'],
  });
});

it('a barrier names its way out though it stores none in words', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const barrier = { at, why: 'it went back in time', advice: { kind: 'adopt' } } as const;
  await ledger.write((trx) => raiseBarrier(trx, barrierKeys.behind, barrier));
  expect((await haltInWords(ledger.db))?.cause).toBe(
    'it went back in time; counterfoil restore --adopt makes it safe to use',
  );
});
