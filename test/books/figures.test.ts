import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { daysUntil, figureRows } from '../../src/books/figures.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { openDay } from '../../src/sending/limits.sql.ts';
import { addPayout, cut, makeWorld, runId, type World } from './support.ts';

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.close());

const scope = { run: runId, mode: 'test' as const, startedAt: cut, cut, through: 2n ** 62n };
const figures = (zone = 'Africa/Lagos') => figureRows(world.ledger.db, scope, zone);
const paid = (reference: string, submitted: string, settled: string, more = {}): Promise<bigint> =>
  addPayout(world.ledger, reference, ['ready', 'sending', 'pending', 'success'], {
    submitted_at: submitted,
    settled_at: settled,
    final_at: settled,
    ...more,
  });
const lost = (reference: string, message: string | null, more = {}): Promise<bigint> =>
  addPayout(world.ledger, reference, ['ready', 'sending', 'pending', 'failed'], {
    submitted_at: '2026-11-21T12:01:00.000Z',
    final_at: '2026-11-21T12:03:00.000Z',
    message,
    ...more,
  });

describe('the figures of a run', () => {
  it('count a payout on the day that the zone of the reports has, in each currency by itself', async () => {
    await paid('a', '2026-11-20T22:59:59.999Z', '2026-11-20T23:00:00.000Z');
    await paid('b', '2026-11-20T23:30:00.000Z', '2026-11-21T01:00:00.000Z', { currency: 'ZAR', amount: 1n });
    expect((await figures()).days).toEqual([
      ['currency', 'day', 'submitted', 'submitted_amount', 'settled', 'settled_amount'],
      ['NGN', '2026-11-20', '1', '100.00', '0', '0.00'],
      ['NGN', '2026-11-21', '0', '0.00', '1', '100.00'],
      ['ZAR', '2026-11-21', '1', '0.01', '1', '0.01'],
    ]);
    expect((await figures('UTC')).days.slice(1).map((row) => row[1])).toEqual([
      '2026-11-20',
      '2026-11-20',
      '2026-11-21',
    ]);
  });

  it('give a day its 23 or 25 hours where the clocks change', () => {
    const spring = daysUntil('2026-03-30T12:00:00.000Z', 'Europe/Paris').slice(-3);
    expect(spring).toEqual([
      { day: '2026-03-28', begins: '2026-03-27T23:00:00.000Z' },
      { day: '2026-03-29', begins: '2026-03-28T23:00:00.000Z' },
      { day: '2026-03-30', begins: '2026-03-29T22:00:00.000Z' },
    ]);
    expect(daysUntil('2026-10-26T12:00:00.000Z', 'Europe/Paris').at(-2)?.begins).toBe(
      '2026-10-24T22:00:00.000Z',
    );
    expect(daysUntil(cut, 'UTC')).toHaveLength(31);
  });

  it('count a payout that was paid again by its own state, not by that of the first', async () => {
    await paid('a', '2026-11-20T22:59:59.999Z', '2026-11-20T23:00:00.000Z');
    const first = await lost('b', 'declined');
    await paid('b-R2', '2026-11-21T12:04:00.000Z', '2026-11-21T12:05:00.000Z', { successor_of: first });
    expect((await figures()).states.slice(1)).toEqual([
      ['NGN', 'success', '2', '200.00'],
      ['NGN', 'paid_again', '1', '100.00'],
    ]);
  });

  it('sum states as far as the run looked, whatever became of the payouts since', async () => {
    const { db } = world.ledger;
    const id = await addPayout(world.ledger, 'later', ['ready', 'sending', 'pending']);
    for (const name of ['big', 'big2'])
      await addPayout(world.ledger, name, ['held'], { amount: 2n ** 63n - 1n });
    const [entry] = await db.selectFrom('history').selectAll().orderBy('id', 'desc').limit(1).execute();
    if (!entry) throw new Error('no history');
    const through = entry.id;
    const since = {
      ...entry,
      id: through + 1n,
      payout_id: id,
      seq: 4n,
      from_state: 'pending' as const,
      to_state: 'success' as const,
    };
    await db.insertInto('history').values(since).execute();
    await db.updateTable('payouts').set({ state: 'success' }).where('id', '=', id).execute();
    await addPayout(world.ledger, 'unborn', ['ready'], { asAdded: true });
    expect((await figureRows(db, { ...scope, through }, 'UTC')).states.slice(1)).toEqual([
      ['NGN', 'held', '2', '184467440737095516.14'],
      ['NGN', 'pending', '1', '100.00'],
    ]);
  });

  it('name the reasons of failures, and never the first answer of the service as one', async () => {
    const id = await lost('a', 'Transfer initiated');
    const day_id = await world.ledger.write((trx) => openDay(trx, { brakes: noBrakes, at: cut }));
    await world.ledger.db
      .insertInto('attempts')
      .values({
        payout_id: id,
        number: 1n,
        worker_id: 'w',
        began_at: cut,
        day_id,
        outcome: 'accepted',
        message: 'Transfer initiated',
      })
      .execute();
    await lost('b', 'Account closed');
    await lost('c', 'Account closed');
    await lost('d', null, { currency: 'ZAR' });
    expect((await figures()).failures.slice(1)).toEqual([
      ['NGN', 'failed', 'Account closed', '2', '200.00'],
      ['NGN', 'failed', '(no reason was given)', '1', '100.00'],
      ['ZAR', 'failed', '(no reason was given)', '1', '100.00'],
    ]);
  });

  it('name fifteen reasons and banks at most, and sum the rest', async () => {
    for (let n = 0; n < 20; n++) await lost(`r${n}`, `reason ${n}`, { bank_code: `B${n + 100}` });
    await lost('again', 'reason 19', { bank_code: 'B119' });
    const { failures, banks } = await figures();
    expect(failures).toHaveLength(17);
    expect(failures[1]).toEqual(['NGN', 'failed', 'reason 19', '2', '200.00']);
    expect(failures.at(-1)).toEqual(['NGN', 'failed', '(all other reasons)', '5', '500.00']);
    expect(banks[1]).toEqual(['NGN', 'B119', '2', '200.00', '2']);
    expect(banks.at(-1)).toEqual(['NGN', '(all other banks)', '5', '500.00', '5']);
  });

  it('add fees exactly, round them where they are shown, and say how many were not told', async () => {
    for (const [index, fee] of ['10.755', '0.001', '0.004', null, 'free'].entries())
      await paid(`p${index}`, '2026-11-21T12:00:00.000Z', '2026-11-21T12:05:00.000Z', { fee });
    expect((await figures()).fees.slice(1)).toEqual([['NGN', '2026-11-21', '3', '10.76', '2']]);
  });

  it('give the median and the 95th percentile by nearest rank, and no time below zero', async () => {
    for (let n = 1; n <= 20; n++) {
      const settled = new Date(Date.parse('2026-11-21T10:00:00.000Z') + n * 10_000).toISOString();
      await paid(`p${n}`, '2026-11-21T10:00:00.000Z', settled);
    }
    await paid('back', '2026-11-20T10:00:00.000Z', '2026-11-20T09:59:00.000Z');
    expect((await figures()).settle_times.slice(1)).toEqual([
      ['NGN', '2026-11-20', '1', '0', '0'],
      ['NGN', '2026-11-21', '20', '100', '190'],
      ['NGN', 'all', '21', '100', '190'],
    ]);
  });
});
