import { describe, expect, it } from 'vitest';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { abandonClaims } from '../../src/sending/claims.sql.ts';
import type { HaltCause } from '../../src/sending/halt.ts';
import { halt, liftCanary, liftHalt } from '../../src/sending/halts.sql.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { addBatch, at, claimAt, recordOutcome, replies, type TestLedger } from '../support/ledger.ts';
import { braked, hour, named, say } from './brakes-setting.ts';

describe('P21: a canary', () => {
  const brakes: Brakes = { ...noBrakes, canary: 2, canaryHours: 4 };
  const succeed = async (ledger: TestLedger, references: string[], ms: number): Promise<void> => {
    for (const reference of references) await say(ledger, reference, 'success', ms);
  };
  const acceptAll = async (ledger: TestLedger, ms: number): Promise<void> => {
    const open = await ledger.db.selectFrom('attempts').selectAll().where('outcome', 'is', null).execute();
    for (const { id, payout_id } of open)
      await recordOutcome(ledger, at(ms), { payoutId: payout_id, attemptId: id }, replies.accepted(`${id}`));
  };

  it('goes first; the rest waits until every one of it is paid, then goes by itself', async () => {
    const { ledger, claimUnder, left } = await braked();
    await addBatch(ledger, named('A', 5));
    expect(await claimUnder(brakes, 0, 1)).toEqual(['A-1']);
    expect(await claimUnder(brakes, 1)).toEqual(['A-2']);
    await acceptAll(ledger, 2);
    expect(await left(brakes, 3)).toBe(0);
    await succeed(ledger, ['A-1'], 4);
    expect(await claimUnder(brakes, 5)).toEqual([]);
    await succeed(ledger, ['A-2'], 6);
    expect(await left(brakes, 7)).toBe(3);
    expect(await claimUnder(brakes, 8)).toEqual(['A-3', 'A-4', 'A-5']);
    expect(await haltInWords(ledger.db)).toBeUndefined();
  });

  it('keeps no other batch back, and is that of each batch', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 3));
    await addBatch(ledger, named('B', 3), { id: 'b-2' });
    expect(await claimUnder(brakes, 0)).toEqual(['A-1', 'A-2', 'B-1', 'B-2']);
    expect(await claimUnder(brakes, 1)).toEqual([]);
  });

  it('P25: is not begun in a batch that a lost copy may have sent: what is retried there goes on a word for each', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 4));
    await ledger.db.updateTable('payouts').set({ unseen_sends: 1n }).where('reference', '=', 'A-4').execute();
    expect(await claimUnder(brakes, 0)).toHaveLength(4);
    expect(await ledger.db.selectFrom('canaries').select('state').execute()).toEqual([{ state: 'passed' }]);
  });

  it('lets a batch that is no larger go whole', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 2));
    expect(await claimUnder(brakes, 0)).toHaveLength(2);
    expect(await ledger.db.selectFrom('canaries').select('state').execute()).toEqual([{ state: 'passed' }]);
  });

  it.each([
    ['refused', () => replies.refused()],
    ['unknown', () => replies.unknown()],
  ])('halts the mode when one of it is %s, and a release lets the rest go', async (state, reply) => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 4));
    const [first] = await claimAt(ledger, at(0), 1, 'w-1', brakes);
    if (!first) throw new Error('not claimed');
    await recordOutcome(ledger, at(1), first, reply());
    expect(await claimUnder(brakes, 2)).toEqual([]);
    expect(await haltInWords(ledger.db)).toMatchObject({
      cause: `the canary of b-1 failed: A-1 is ${state}`,
      kinds: [state === 'unknown' ? 'canary_open' : 'canary_failed'],
    });
    await ledger.write((trx) => liftHalt(trx, { at: at(3) }));
    expect(await claimUnder(brakes, 4)).toEqual(['A-2', 'A-3', 'A-4']);
  });

  it('halts when one of it failed or was not settled in canary_hours', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 4));
    await claimUnder(brakes, 0);
    await acceptAll(ledger, 1);
    const late = createBrakes({ ledger, clock: { iso: () => at(4 * hour) }, brakes });
    const early = createBrakes({ ledger, clock: { iso: () => at(4 * hour - 1) }, brakes });
    await early.settle();
    expect(await haltInWords(ledger.db)).toBeUndefined();
    await late.settle();
    expect((await haltInWords(ledger.db))?.cause).toBe(
      'the canary of b-1 failed: A-1 has not settled in 4 hour(s)',
    );
  });

  it('halts when one of it is still in its request after canary_hours', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 4));
    expect(await claimUnder(brakes, 0)).toEqual(['A-1', 'A-2']);
    expect(await claimUnder(brakes, 4 * hour)).toEqual([]);
    expect((await haltInWords(ledger.db))?.cause).toMatch(/^the canary of b-1 failed: A-1 has not settled/);
  });

  it('that has not failed is not lifted: no halt goes, and no later count of unknowns begins again', async () => {
    const { ledger } = await braked();
    await addBatch(ledger, named('A', 4));
    expect(await ledger.write((trx) => liftCanary(trx, 'b-1', { at: at(1) }))).toBeUndefined();
    const key = 'released_at:test';
    expect(await ledger.db.selectFrom('meta').select('key').where('key', '=', key).execute()).toEqual([]);
    await ledger.write((trx) => halt(trx, { kind: 'person' }, at(2)));
    expect(await ledger.write((trx) => liftCanary(trx, 'b-1', { at: at(3) }))).toBeUndefined();
    expect((await haltInWords(ledger.db))?.cause).toBe('held by a person');
  });

  it('halts after canary_hours when one of it must not be sent, and not while its batch is held', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 4));
    await claimUnder(brakes, 0);
    await acceptAll(ledger, 1);
    for (const [i, reference] of ['A-1', 'A-2'].entries()) await say(ledger, reference, 'success', 2 + i);
    const own = ledger.db.updateTable('payouts').where('reference', '=', 'A-2');
    await own.set({ state: 'held', message: 'the service already shows a transfer under A-2' }).execute();
    const reasons = (text: string) => ledger.db.updateTable('batches').set({ hold_reasons: text }).execute();
    const late = createBrakes({ ledger, clock: { iso: () => at(4 * hour) }, brakes });
    const early = createBrakes({ ledger, clock: { iso: () => at(4 * hour - 1) }, brakes });
    await early.settle();
    await reasons('[{"kind":"person"}]');
    await late.settle();
    expect(await haltInWords(ledger.db)).toBeUndefined();
    await reasons('[]');
    await ledger.db.updateTable('payouts').set({ state: 'ready' }).where('id', '>=', 3n).execute();
    await late.settle();
    expect((await haltInWords(ledger.db))?.cause).toBe(
      'the canary of b-1 failed: A-2 is held, and cannot be sent; counterfoil show A-2 says why',
    );
    await ledger.write((trx) => liftCanary(trx, 'b-1', { at: at(4 * hour) }));
    expect(await claimUnder(brakes, 4 * hour)).toEqual(['A-3', 'A-4']);
  });

  it('is released for its batch alone, and its own halt goes with it', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 4));
    await claimUnder(brakes, 0);
    await acceptAll(ledger, 1);
    await say(ledger, 'A-2', 'failed', 2);
    expect(await claimUnder(brakes, 3)).toEqual([]);
    expect(await ledger.write((trx) => liftCanary(trx, 'b-9', { at: at(4) }))).toBeUndefined();
    expect(await ledger.write((trx) => liftCanary(trx, 'b-1', { at: at(4) }))).toMatchObject({ halt: true });
    expect(await claimUnder(brakes, 5)).toEqual(['A-3', 'A-4']);
  });

  it('is not opened by a process that died: its payouts are unknown, and the mode halts', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 4));
    await claimUnder(brakes, 0);
    await ledger.write((trx) => abandonClaims(trx, 'w-1', at(1)));
    expect(await claimUnder(brakes, 2)).toEqual([]);
    expect((await haltInWords(ledger.db))?.cause).toContain('A-1 is unknown');
  });

  it('stays in force when the configuration no longer asks for one, until it has settled', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 4));
    await claimUnder(brakes, 0);
    expect(await claimUnder(noBrakes, 1)).toEqual([]);
  });
});

describe('P11: a halt with several causes', () => {
  const brakes: Brakes = { ...noBrakes, canary: 1 };
  const failCanary = async (ledger: TestLedger, batch: string, ms: number): Promise<void> => {
    const [first] = await claimAt(ledger, at(ms), 1, 'w-1', brakes);
    if (!first) throw new Error(`nothing of ${batch} was claimed`);
    await recordOutcome(ledger, at(ms), first, replies.refused());
  };
  const release = (ledger: TestLedger, batch: string, ms: number) =>
    ledger.write((trx) => liftCanary(trx, batch, { at: at(ms) }));

  it.each<[string, HaltCause]>([
    ['held by a person', { kind: 'person' }],
    [
      'the service answered 13 (account blocked) to B-1',
      { kind: 'account', code: '13', message: 'account blocked', reference: 'B-1' },
    ],
  ])('releasing a batch lifts the halt of its canary and not: %s', async (cause, other) => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 3));
    await failCanary(ledger, 'b-1', 0);
    expect(await claimUnder(brakes, 1)).toEqual([]);
    await ledger.write((trx) => halt(trx, other, at(2)));
    await ledger.write((trx) => halt(trx, other, at(3)));
    expect(await haltInWords(ledger.db)).toEqual({
      cause: `the canary of b-1 failed: A-1 is refused; also: ${cause}`,
      at: at(1),
      kinds: ['canary_failed', other.kind],
    });
    expect(await release(ledger, 'b-1', 4)).toMatchObject({ halt: false });
    expect(await haltInWords(ledger.db)).toMatchObject({ cause, kinds: [other.kind] });
    expect(await claimUnder(brakes, 5)).toEqual([]);
    await ledger.write((trx) => liftHalt(trx, { at: at(6) }));
    expect(await claimUnder(brakes, 7)).toEqual(['A-2', 'A-3']);
  });

  it('two canaries that fail halt twice: each batch is released for itself', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 2));
    await addBatch(ledger, named('B', 2), { id: 'b-2' });
    const claims = await claimAt(ledger, at(0), 2, 'w-1', brakes);
    for (const one of claims) await recordOutcome(ledger, at(1), one, replies.refused());
    expect(await claimUnder(brakes, 2)).toEqual([]);
    expect(await release(ledger, 'b-1', 3)).toMatchObject({ halt: false });
    expect(await claimUnder(brakes, 4)).toEqual([]);
    expect(await release(ledger, 'b-2', 5)).toMatchObject({ halt: true });
    expect(await claimUnder(brakes, 6)).toEqual(['A-2', 'B-2']);
  });
});
