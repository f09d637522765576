import { describe, expect, it } from 'vitest';
import { type PayeeComparison, recordComparison } from '../../src/core/ledger/payee-comparisons.ts';
import { record } from '../../src/core/ledger/record.ts';
import { noteBatch, readApprovable, recordApproval } from '../../src/sending/approvals.sql.ts';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { finishRelease, holdBatch, releaseBatch } from '../../src/sending/holds.sql.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { payeesAsked } from '../../src/sending/payee-facts.ts';
import { addBatch, at, states, type TestLedger } from '../support/ledger.ts';
import { braked, named } from './brakes-setting.ts';

describe('P2: an approval', () => {
  const always: Brakes = { ...noBrakes, approval: 'always' };
  const needed = (dropper: string) => ({ kind: 'approval', why: { kind: 'always' }, dropper });
  const person = { kind: 'person', mark: expect.any(Number) };
  const approve = async (ledger: TestLedger, batch = 'b-1') => {
    const row = await ledger.db
      .selectFrom('batches')
      .selectAll()
      .where('id', '=', batch)
      .executeTakeFirstOrThrow();
    const shown = await readApprovable(ledger.db, row);
    return ledger.write((trx) => recordApproval(trx, { batch: row, shown, by: 'bob', at: at(5) }));
  };
  /** As intake leaves it: the digest of the frozen bodies, the totals, and the reason that holds it. */
  const addOrdered = async (ledger: TestLedger, references: string[]): Promise<void> => {
    await addBatch(ledger, references, { state: 'held' });
    const row = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
    const { bodies } = await readApprovable(ledger.db, row);
    await ledger.write(async (trx) => {
      await trx
        .updateTable('batches')
        .set({ body_digest: bodies, hold_reasons: JSON.stringify([needed('alice')]) })
        .execute();
      const totals = new Map([['NGN', 150_000n * BigInt(references.length)]]);
      await noteBatch(trx, { id: 'b-1', totals, needsApproval: true });
    });
  };
  const reasons = async (ledger: TestLedger): Promise<unknown> => {
    const { hold_reasons } = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
    return JSON.parse(hold_reasons);
  };
  const release = (ledger: TestLedger, ms: number) => releaseBatch(ledger, { batch: 'b-1', at: at(ms) });

  it('P2: records one approval of two that were begun at once', async () => {
    const { ledger } = await braked();
    await addOrdered(ledger, ['A-1']);
    const row = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
    const shown = await readApprovable(ledger.db, row);
    const by = (name: string) =>
      ledger.write((trx) => recordApproval(trx, { batch: row, shown, by: name, at: at(5) }));
    expect([(await by('bob')).kind, (await by('eve')).kind]).toEqual(['approved', 'already']);
    const approvals = await ledger.db.selectFrom('approvals').select('approved_by').execute();
    expect(approvals).toEqual([{ approved_by: 'bob' }]);
  });

  it('is asked for in the transaction of the intent, whatever state the payouts came to', async () => {
    const { ledger, claimUnder, left } = await braked();
    await addBatch(ledger, named('A', 2));
    expect(await claimUnder(always, 0)).toEqual([]);
    expect(await left(always, 0)).toBe(0);
    const over = { ...noBrakes, approval: 'above' as const, approvalAbove: { NGN: '2999.99' } };
    expect(await claimUnder(over, 0), 'a batch without totals').toEqual([]);
    await ledger.write((trx) =>
      noteBatch(trx, { id: 'b-1', totals: new Map([['NGN', 300_000n]]), needsApproval: false }),
    );
    expect(await claimUnder(over, 0)).toEqual([]);
    expect(await claimUnder({ ...over, approvalAbove: { NGN: '3000.00' } }, 0)).toHaveLength(2);
  });

  it('P37: is asked for by the rule of today about payees, from what was compared at intake', async () => {
    const none: PayeeComparison = {
      ...{ with: null, day: '', joined: 0, left: 0, accountChanged: 0, nameChanged: 0, amountChanged: 0 },
      ...{ newPayees: 0, hundredfold: { count: 0, rows: [] }, inflated: [], totalsBefore: {}, totalsNow: {} },
      ...{ changes: [], digest: '' },
    };
    const kept: [found: PayeeComparison | null, asking: string][] = [
      [null, 'approve_changed approve_new'],
      [none, 'approve_new'],
      [{ ...none, countsNew: true, nameChanged: 3, amountChanged: 2, joined: 1 }, ''],
      [{ ...none, countsNew: true, accountChanged: 1 }, 'approve_changed approve_new'],
      [{ ...none, countsNew: true, newPayees: 11 }, 'approve_new'],
      [{ ...none, countsNew: true, hundredfold: { count: 2, rows: [2] } }, 'approve_changed approve_new'],
      [{ ...none, countsNew: true, inflated: ['NGN'] }, 'approve_changed approve_new'],
    ];
    for (const rule of ['off', 'warn', 'approve_changed', 'approve_new'] as const) {
      for (const [found, asking] of kept) {
        const { ledger, claimUnder } = await braked();
        await addBatch(ledger, ['A-1']);
        if (found) await ledger.write((trx) => recordComparison(trx, 'b-1', found));
        const asks = asking.split(' ').includes(rule);
        expect(
          await claimUnder({ ...noBrakes, payees: rule }, 0),
          `${rule} ${JSON.stringify(found)}`,
        ).toHaveLength(asks ? 0 : 1);
        // What is known of the payees gives the same answer in the words of the hold.
        if (found?.countsNew) expect(payeesAsked(rule, found) !== null).toBe(asks);
      }
    }
  });

  it('is not lifted by release, and lets the batch go once given', async () => {
    const { ledger, claimUnder } = await braked();
    await addOrdered(ledger, named('A', 2));
    expect(await release(ledger, 1)).toMatchObject({
      moved: 0,
      stays: [needed('alice')],
    });
    expect(await claimUnder(noBrakes, 2), 'nor by a configuration that forgot it').toEqual([]);
    expect(await approve(ledger)).toEqual({ kind: 'approved', others: [] });
    expect(await reasons(ledger), 'nothing is ever held without one').toEqual([
      { kind: 'releasing', by: 'bob', mark: expect.any(Number) },
    ]);
    expect(await claimUnder(noBrakes, 6), 'still held: a crash here opens nothing').toEqual([]);
    expect(await release(ledger, 7)).toMatchObject({ moved: 2, stays: [] });
    expect(await claimUnder(always, 8)).toEqual(['A-1', 'A-2']);
  });

  it('is one of several brakes: each is lifted by its own command, the last lets the batch go', async () => {
    const { ledger, claimUnder } = await braked();
    await addOrdered(ledger, named('A', 2));
    await holdBatch(ledger, { batch: 'b-1', reason: { kind: 'person' }, at: at(1) });
    expect(await reasons(ledger)).toEqual([needed('alice'), person]);
    expect(await approve(ledger)).toEqual({ kind: 'approved', others: [person] });
    expect(await claimUnder(noBrakes, 2)).toEqual([]);
    expect(await release(ledger, 3)).toMatchObject({ moved: 2, stays: [] });
    expect(await claimUnder(always, 4)).toHaveLength(2);
  });

  it('lets nothing go that a person held after it was given', async () => {
    const { ledger } = await braked();
    await addOrdered(ledger, named('A', 2));
    await approve(ledger);
    const batch = { batch: 'b-1', at: at(6) };
    await holdBatch(ledger, { ...batch, reason: { kind: 'person' } });
    expect(await finishRelease(ledger, batch)).toMatchObject({
      moved: 0,
      stays: [person],
    });
    expect(await reasons(ledger)).toEqual([person]);
  });

  it('is bound to the digest of the frozen bodies', async () => {
    const { ledger, claimUnder } = await braked();
    await addOrdered(ledger, named('A', 2));
    await approve(ledger);
    await release(ledger, 6);
    await ledger.write((trx) => trx.updateTable('batches').set({ body_digest: 'another' }).execute());
    expect(await claimUnder(noBrakes, 7)).toEqual([]);
    const rewrite = ledger.write((trx) => trx.updateTable('payouts').set({ body: '{}' }).execute());
    await expect(rewrite).rejects.toThrow('the body of a payout is frozen at intake');
  });

  it('says when the bodies in the ledger are not those that were taken in', async () => {
    const { ledger } = await braked();
    await addOrdered(ledger, named('A', 2));
    const row = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
    expect(await readApprovable(ledger.db, row)).toMatchObject({
      sound: true,
      rows: 2,
      totals: { NGN: '3000.00' },
    });
    expect(await readApprovable(ledger.db, { ...row, body_digest: 'x' })).toMatchObject({ sound: false });
  });

  it('shows what would go, without a payout that was cancelled', async () => {
    const { ledger } = await braked();
    await addOrdered(ledger, named('A', 3));
    const row = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
    const before = await readApprovable(ledger.db, row);
    expect(before).toMatchObject({ sound: true, rows: 3, totals: { NGN: '4500.00' } });
    const cancel = ledger.db.selectFrom('payouts').select('id').where('reference', '=', 'A-2');
    const { id } = await cancel.executeTakeFirstOrThrow();
    const event = { kind: 'cancel' as const, why: 'wrong' };
    await ledger.write((trx) => record(trx, at(1), [{ payoutId: id, source: 'person', event }]));
    const { digest } = before;
    expect(await readApprovable(ledger.db, row)).toMatchObject({
      ...{ sound: true, rows: 2, totals: { NGN: '3000.00' }, digest },
    });
  });

  it('does not cover what was added to the batch after it was shown', async () => {
    const { ledger, claimUnder } = await braked();
    await addOrdered(ledger, named('A', 1));
    const row = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
    const shown = await readApprovable(ledger.db, row);
    await ledger.write((trx) => recordApproval(trx, { batch: row, shown, by: 'bob', at: at(5) }));
    const added = await ledger.db.selectFrom('payouts').selectAll().executeTakeFirstOrThrow();
    const { id: _id, ...rest } = added;
    await ledger.write((trx) =>
      trx
        .insertInto('payouts')
        .values({ ...rest, reference: 'A-1-2', reference_key: 'a-1-2', state: 'ready' })
        .execute(),
    );
    await finishRelease(ledger, { batch: 'b-1', at: at(6) });
    expect(await claimUnder(noBrakes, 6)).toEqual(['A-1']);
    expect(
      await ledger.write((trx) => recordApproval(trx, { batch: row, shown, by: 'bob', at: at(7) })),
    ).toEqual({ kind: 'changed' });
    await approve(ledger);
    await finishRelease(ledger, { batch: 'b-1', at: at(8) });
    expect(await claimUnder(noBrakes, 8)).toEqual(['A-1-2']);
  });

  it('that today’s rule asks for holds a batch that was ready, with its reason', async () => {
    const { ledger } = await braked();
    await addBatch(ledger, named('A', 2));
    await createBrakes({ ledger, clock: { iso: () => at(1) }, brakes: always }).settle();
    expect(await states(ledger)).toEqual({ 'A-1': 'held', 'A-2': 'held' });
    const { hold_reasons } = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
    expect(JSON.parse(hold_reasons)).toMatchObject([needed('ada')]);
  });

  it('that was given while a brake looked at the batch is not asked for again', async () => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 2));
    const row = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
    const { bodies } = await readApprovable(ledger.db, row);
    await ledger.write((trx) => trx.updateTable('batches').set({ body_digest: bodies }).execute());
    const given: unknown[] = [];
    const write: TestLedger['write'] = async (work) => {
      if (given.length === 0) {
        given.push(await approve(ledger));
        await finishRelease(ledger, { batch: 'b-1', at: at(6) });
      }
      return ledger.write(work);
    };
    await createBrakes({
      ledger: { ...ledger, write },
      clock: { iso: () => at(7) },
      brakes: always,
    }).settle();
    expect(given).toEqual([{ kind: 'approved', others: [] }]);
    expect([await reasons(ledger), await states(ledger)]).toEqual([[], { 'A-1': 'ready', 'A-2': 'ready' }]);
    expect(await claimUnder(always, 8)).toEqual(['A-1', 'A-2']);
  });
});
