import { describe, expect, it, onTestFinished } from 'vitest';
import { setFileState } from '../../src/core/ledger/batch-files.ts';
import { type HoldReason, readReasons } from '../../src/core/ledger/hold-reasons.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { cancelUnsent } from '../../src/sending/decisions/cancel-unsent.sql.ts';
import { holdBatch, releaseBatch } from '../../src/sending/holds.sql.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { addBatch, at, claimAt, makeLedger } from '../support/ledger.ts';
import { named } from './setting.ts';

/** Two full transactions of a release or a hold, and a third. */
const payouts = 2100;
const person = { kind: 'person' } as const;
const grown: HoldReason = { kind: 'file_grown', path: '/archive/pay.csv', bytes: 9, line: 7 };
const batch = { batch: 'b-1', at: at(1) };

async function heldLedger() {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  await addBatch(ledger, named(payouts));
  await holdBatch(ledger, { ...batch, reason: person });
  return ledger;
}

/** The same ledger, as another process sees it: `act` runs before its transaction `turn`, from 0. */
function interrupted(ledger: Ledger, turn: number, act: () => Promise<unknown>): Ledger {
  let turns = 0;
  const write: Ledger['write'] = async (work, ...rest) => {
    if (turns++ === turn) await act();
    return ledger.write(work, ...rest);
  };
  return { ...ledger, db: ledger.db, place: ledger.place, write };
}

async function standing(ledger: Ledger) {
  const rows = await ledger.db
    .selectFrom('payouts')
    .select(['state', (eb) => eb.fn.countAll<bigint>().as('n')])
    .groupBy('state')
    .execute();
  const one = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
  return {
    states: Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)])),
    kinds: readReasons(one.hold_reasons).map(({ kind }) => kind),
    fileState: one.file_state,
  };
}

const settle = (ledger: Ledger) =>
  createBrakes({ ledger, clock: { iso: () => at(9) }, brakes: noBrakes }).settle();

describe.each([0, 1, 2])('before transaction %i of the other', (turn) => {
  it('P21: a hold that returned while a release was running is true until somebody releases again', async () => {
    const ledger = await heldLedger();
    const hold = () => holdBatch(ledger, { ...batch, reason: person });
    const released = await releaseBatch(interrupted(ledger, turn, hold), batch);
    expect(await standing(ledger)).toMatchObject({ states: { held: payouts }, kinds: ['person'] });
    expect(released.stays, 'the release names what joined').toMatchObject([person]);
    expect(released.moved, 'and says of no payout that it may go').toBe(0);
    expect(await claimAt(ledger, at(2))).toEqual([]);
    expect(await releaseBatch(ledger, batch)).toMatchObject({ moved: payouts, stays: [] });
    expect(await standing(ledger)).toMatchObject({ states: { ready: payouts }, kinds: [] });
  });

  it('P34: a file that grew while a release was running holds the batch, and nobody has accepted it', async () => {
    const ledger = await heldLedger();
    const find = () => {
      const finding = (trx: Parameters<typeof setFileState>[0]) => setFileState(trx, 'b-1', 'changed');
      return holdBatch(ledger, { ...batch, reason: grown, source: 'brake', finding });
    };
    await ledger.db.updateTable('batches').set({ file_state: 'whole' }).execute();
    const released = await releaseBatch(interrupted(ledger, turn, find), batch);
    expect(released.stays).toMatchObject([grown]);
    expect(await standing(ledger)).toMatchObject({
      states: { held: payouts },
      kinds: ['file_grown'],
      fileState: 'changed',
    });
  });

  it('P21: a release that came while a hold was running lets all of it go, and the hold takes nothing back', async () => {
    const ledger = await makeLedger();
    onTestFinished(() => ledger.remove());
    await addBatch(ledger, named(payouts));
    const release = () => releaseBatch(ledger, batch);
    await holdBatch(interrupted(ledger, turn, release), { ...batch, reason: person });
    const then = await standing(ledger);
    if (turn === 0) expect(then).toMatchObject({ states: { held: payouts }, kinds: ['person'] });
    else expect(then).toMatchObject({ states: { ready: payouts }, kinds: [] });
  });

  it('P21: a batch that is cancelled while a release is running sends nothing', async () => {
    const ledger = await heldLedger();
    const cancel = () => cancelUnsent(ledger, { ...batch, source: 'person', why: 'wrong month' });
    await releaseBatch(interrupted(ledger, turn, cancel), batch);
    expect(await standing(ledger)).toMatchObject({ states: { cancelled: payouts } });
  });
});

const dies = () => Promise.reject(new Error('the process died'));

it('P21: a release that died between two transactions sends nothing, has a reason, and is finished by the next submit', async () => {
  const ledger = await heldLedger();
  await expect(releaseBatch(interrupted(ledger, 2, dies), batch)).rejects.toThrow('died');
  const half = await standing(ledger);
  expect(half.kinds).toEqual(['releasing']);
  expect(half.states.held).toBeGreaterThan(0);
  expect(await claimAt(ledger, at(2)), 'nothing goes before all of it may').toEqual([]);
  await settle(ledger);
  expect(await standing(ledger)).toMatchObject({ states: { ready: payouts }, kinds: [] });
});

it('P21: a hold that died between two transactions holds the whole batch, and the next submit says so of each payout', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  await addBatch(ledger, named(payouts));
  const order = { ...batch, reason: person };
  await expect(holdBatch(interrupted(ledger, 2, dies), order)).rejects.toThrow('died');
  expect((await standing(ledger)).states.ready).toBeGreaterThan(0);
  expect(await claimAt(ledger, at(2))).toEqual([]);
  await settle(ledger);
  expect(await standing(ledger)).toMatchObject({ states: { held: payouts }, kinds: ['person'] });
});

it('P21: an older release that goes on beside a hold and a newer release ends neither', async () => {
  const ledger = await heldLedger();
  const between = async () => {
    await holdBatch(ledger, { ...batch, reason: person });
    await expect(releaseBatch(interrupted(ledger, 1, dies), batch)).rejects.toThrow('died');
  };
  await releaseBatch(interrupted(ledger, 2, between), batch);
  const { states, kinds } = await standing(ledger);
  expect(kinds, 'what is still held has a reason').toEqual(['releasing']);
  expect(states.held).toBeGreaterThan(0);
  await settle(ledger);
  expect(await standing(ledger)).toMatchObject({ states: { ready: payouts }, kinds: [] });
});

it('P21: a person who releases what was shown does not lift a hold that another person repeated meanwhile', async () => {
  const ledger = await heldLedger();
  const { hold_reasons } = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
  await holdBatch(ledger, { ...batch, reason: person });
  const released = await releaseBatch(ledger, { ...batch, seen: readReasons(hold_reasons) });
  expect(released).toMatchObject({ moved: 0, stays: [person] });
  expect(await standing(ledger)).toMatchObject({ states: { held: payouts }, kinds: ['person'] });
});

it('P21: a release does not lift a finding that was made again after the person looked', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  await addBatch(ledger, ['R-1']);
  const find = () => holdBatch(ledger, { ...batch, reason: grown, source: 'brake' });
  await find();
  const { hold_reasons } = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
  const seen = readReasons(hold_reasons);
  await releaseBatch(ledger, { ...batch, seen });
  await find();
  expect(await releaseBatch(ledger, { ...batch, seen }), 'after a release').toMatchObject({
    moved: 0,
    stays: [grown],
  });
  await find();
  expect(await releaseBatch(ledger, { ...batch, seen }), 'one reason still').toMatchObject({
    stays: [grown],
  });
  expect(await standing(ledger)).toMatchObject({ states: { held: 1 }, kinds: ['file_grown'] });
});
