import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { barrierKeys, raiseBarrier } from '../../../src/core/ledger/barriers.ts';
import type { Ledger } from '../../../src/core/storage/ledger.ts';
import { newestCompleteRun } from '../../../src/watching/listing/listings.sql.ts';
import type { Habits, Order } from '../../shifting/list-service.ts';
import { addBatch, configured, createNights } from '../../shifting/shifting-day.ts';
import { birth, createTown, start, type Town } from '../../shifting/town.ts';
import { createRandom } from '../../simulation/random.ts';
import { openNewLedger } from '../../support/new-ledger.ts';

const day = 86_400_000;
const pages = 40;
let folder: string;
let ledger: Ledger;
let town: Town;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'short-cut-'));
  ledger = await openNewLedger(join(folder, 'ledger.db'), { now: () => birth });
  await addBatch(ledger);
});
afterEach(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Ten transfers a day for forty days, a page a day, in a list that holds still. */
async function calmNights(order: Order) {
  const random = createRandom(1);
  const still = { churn: 0, faults: 0, repeats: 0, wrongTotals: 0, clockErrorMs: 0 };
  const habits: Habits = { order, perPage: 10, resizes: 'never', ...still };
  town = createTown(ledger, random, 0);
  const old = Array.from({ length: 10 * pages }, (_, i) => start - 3_700_000 - (i * day) / 10);
  await town.add(old.map((at) => town.draw(at, null)));
  const nights = createNights(ledger, town, { random, habits, config: configured(folder) });
  return async (full = false) => {
    town.world.now += 60_000;
    const before = nights.requests();
    const summary = await nights.run(full);
    return { ...summary, requests: nights.requests() - before };
  };
}

function lastRun() {
  return ledger.db.selectFrom('runs').selectAll().orderBy('started_at', 'desc').executeTakeFirstOrThrow();
}

it.each(['newest', 'oldest'] as const)(
  'P29: a list by creation, %s first, is read to the edge only',
  async (order) => {
    const night = await calmNights(order);
    const whole = await night();
    expect(whole).toMatchObject({ complete: true, listed: 400, requests: 2 * pages });
    const short = await night();
    expect(short).toMatchObject({ complete: 'window', passes: 2 });
    expect(short.requests).toBeLessThan(2 * 14);
    expect(await lastRun()).toMatchObject({
      base_run_id: whole.run,
      edge: expect.stringMatching(/^2026-11-14T1[12]/),
    });
    // P16, P20: what rests on a complete listing still rests on the whole one.
    expect((await newestCompleteRun(ledger.db, []))?.id).toBe(whole.run);
    expect(await night(true)).toMatchObject({ complete: true, listed: 400 });
  },
);

it.each(['updated', 'by id'] as const)('P29: a list %s is always read whole', async (order) => {
  const night = await calmNights(order);
  const returned = town.subjects[200];
  if (!returned) throw new Error('no such subject');
  returned.row = { ...returned.row, updated_at: new Date(start).toISOString() };
  town.show(returned);
  for (const _ of [1, 2]) expect(await night()).toMatchObject({ complete: true, listed: 400 });
});

it('P29: a payout missing inside the edge is called so; one that is older waits for a whole listing', async () => {
  const night = await calmNights('newest');
  await night();
  const [recent, old] = [town.subjects[5], town.subjects[300]];
  const gone = [recent, old].map((one) => one?.row.id);
  town.world.rows = town.world.rows.filter(({ id }) => id !== recent?.row.id);
  town.world.version++;
  const short = await night();
  expect(short).toMatchObject({
    complete: 'window',
    lookups: 1,
    discrepancies: { open: { missing_at_service: 1 } },
  });
  town.world.rows = town.world.rows.filter(({ id }) => !gone.includes(id));
  town.world.version++;
  expect((await night(true)).discrepancies.open).toEqual({ missing_at_service: 2 });
});

it('P29: the edge goes back to the oldest payout that may still move, unless the pending list shows it so', async () => {
  const night = await calmNights('newest');
  const old = town.subjects[150];
  if (!old) throw new Error('no such subject');
  old.row = { ...old.row, status: 'pending' };
  town.show(old);
  await night();
  expect((await night()).requests).toBeLessThan(2 * 14);
  // It settled: the pending list is silent, and its row tells.
  old.row = { ...old.row, status: 'success' };
  town.show(old);
  const settled = await night();
  expect(settled).toMatchObject({ complete: 'window' });
  expect(settled.requests).toBeGreaterThan(2 * 14);
  const state = ledger.db.selectFrom('payouts').select('state').where('id', '=', BigInt(old.n));
  expect(await state.executeTakeFirst()).toEqual({ state: 'success' });
});

it('P29: a count that does not fit makes it a listing of everything', async () => {
  const night = await calmNights('newest');
  await night();
  await town.add([town.draw(start - 30 * day, null)]);
  await ledger.db.updateTable('payouts').set({ state: 'success' }).where('state', '=', 'pending').execute();
  expect(await night()).toMatchObject({ complete: true, listed: 401 });
});

it('P29: a list that was pruned at its far end keeps the short cut', async () => {
  const night = await calmNights('newest');
  await night();
  const kept = town.world.rows.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)).slice(0, 350);
  town.world.rows = kept;
  town.world.version++;
  expect(await night()).toMatchObject({ complete: 'window', discrepancies: { open: {} } });
});

it('P25: while a barrier stands everything is listed', async () => {
  const night = await calmNights('newest');
  await night();
  const barrier = { at: new Date(town.world.now).toISOString(), why: 'adopted', advice: null };
  await ledger.write((trx) => raiseBarrier(trx, barrierKeys.listing, barrier));
  expect(await night()).toMatchObject({ complete: true });
});

it('P29: what a short cut missed is said by the next whole listing, and the order is trusted only after a full run', async () => {
  const night = await calmNights('newest');
  await night();
  expect(await night()).toMatchObject({ complete: 'window' });
  // Shown late: created inside the edge, before the cut.
  await town.add([town.draw(start - 2 * day, null)]);
  expect(await night(true)).toMatchObject({ complete: true, short_cut: { missed: 1 } });
  expect(await night()).toMatchObject({ complete: true });
  expect(await night(true)).not.toHaveProperty('short_cut');
  expect(await night()).toMatchObject({ complete: 'window' });
});
