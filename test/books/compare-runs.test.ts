import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pairListed } from '../../src/watching/listing/pairing.sql.ts';
import {
  addDiscrepancy,
  addListed,
  addPayout,
  addRun,
  cut,
  makeWorld,
  runId,
  type World,
} from './support.ts';

const later = '20261121T140000Z';

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.close());

async function freeze(run: string): Promise<void> {
  await pairListed(world.ledger, run);
  await world.reporting.freezeRun(run, cut);
}

async function move(id: bigint, to: 'success' | 'failed', fee: string): Promise<void> {
  const entry = { payout_id: id, seq: 4n, at: cut, event: `listing says ${to}` as const, source: 'listing' };
  const states = { from_state: 'pending' as const, to_state: to };
  const rest = { detail: JSON.stringify({ fee }), prev_hash: '', hash: '' };
  await world.ledger.db
    .insertInto('history')
    .values({ ...entry, ...states, ...rest })
    .execute();
  await world.ledger.db.updateTable('payouts').set({ state: to, fee }).where('id', '=', id).execute();
}

/** Two runs: between them one payout settles, one fails, one is sent, and a transfer of nobody's appears. */
async function twoRuns(): Promise<void> {
  const { ledger } = world;
  await addRun(ledger, runId);
  const ids = [];
  for (const name of ['paid', 'fails']) {
    ids.push(await addPayout(ledger, name, ['ready', 'sending', 'pending'], { transfer_id: `T-${name}` }));
    await addListed(ledger, name, { status: 'pending' });
  }
  await addDiscrepancy(ledger, 'D1');
  await freeze(runId);
  await addRun(ledger, later, '2026-11-21T14:00:00.000Z');
  const [paid, fails] = ids;
  if (paid !== undefined) await move(paid, 'success', '10.75');
  if (fails !== undefined) await move(fails, 'failed', '0.00');
  await addPayout(ledger, 'new', ['ready', 'sending', 'pending'], { amount: 4_200n });
  await addListed(ledger, 'paid', { run_id: later });
  await addListed(ledger, 'fails', { run_id: later, status: 'failed' });
  await addListed(ledger, 'nobody', { run_id: later, amount: 700n });
  await addDiscrepancy(ledger, 'D2', { kind: 'missing_in_ledger', reference: 'nobody' });
  await ledger.db
    .updateTable('discrepancies')
    .set({ state: 'resolved', resolved_at: '2026-11-21T14:00:01.000Z' })
    .where('id', '=', 'D1')
    .execute();
  await freeze(later);
}

async function compared(names: [string, string]) {
  const done = await world.reporting.compareRuns(names);
  if (done.kind === 'refused') throw new Error(done.why);
  return done;
}

it('explains line by line what moved between two runs, from frozen rows alone', async () => {
  await twoRuns();
  const { comparison, file } = await compared([later, runId]);
  const changed = comparison.lines.filter(
    ({ difference }) => difference.count !== 0 || /[1-9]/.test(difference.amount),
  );
  const told = changed.map(({ line, was, now, difference, moved }) => [
    line,
    was.amount,
    now.amount,
    difference.amount,
    moved.map(({ reference, from, to, amount }) => `${reference}: ${from} > ${to} ${amount}`),
  ]);
  expect(told).toEqual([
    ['submitted', '200.00', '242.00', '42.00', ['new:  > pending 42.00']],
    ['settled', '0.00', '100.00', '100.00', ['paid: pending > success 100.00']],
    ['failed', '0.00', '100.00', '100.00', ['fails: pending > failed 100.00']],
    ['closing', '200.00', '42.00', '-158.00', []],
    [
      'in_flight',
      '200.00',
      '42.00',
      '-158.00',
      ['fails: pending > failed -100.00', 'new:  > pending 42.00', 'paid: pending > success -100.00'],
    ],
    ['net_paid', '0.00', '100.00', '100.00', []],
    ['fees', '0.00', '10.75', '10.75', ['paid: pending > success 10.75']],
    ['listed_by_service', '200.00', '107.00', '-93.00', []],
    ['unseen', '0.00', '42.00', '42.00', ['new:  > pending 42.00']],
    ['foreign', '0.00', '7.00', '7.00', ['nobody:  >  7.00']],
  ]);
  expect(comparison.discrepancies).toEqual({
    opened: [
      { discrepancy_id: 'D2', kind: 'missing_in_ledger', reference: 'nobody', was: 'not there', now: 'open' },
    ],
    closed: [
      { discrepancy_id: 'D1', kind: 'amount_conflict', reference: 'R1', was: 'open', now: 'resolved' },
    ],
  });
  const text = readFileSync(file, 'utf8');
  expect(file).toContain(`reconciliation-${later}/against-${runId}.csv`);
  const rows: string[][] = parse(text, { bom: true, columns: false });
  expect(rows.filter(([, line]) => line === 'settled').map((row) => row.slice(0, 11))).toEqual([
    ['NGN', 'settled', '0.00', '100.00', '100.00', '', '', '', '', '', ''],
    ['NGN', 'settled', '', '', '', 'paid', 'b-20261121-000001', 'T-paid', 'pending', 'success', '100.00'],
  ]);
  await world.ledger.db.deleteFrom('listed').execute();
  await world.ledger.db.updateTable('payouts').set({ state: 'unknown' }).execute();
  expect((await compared([runId, later])).comparison).toEqual(comparison);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

it('reads columns by name: a run that froze them in another order, and had more, compares the same', async () => {
  await twoRuns();
  const { comparison } = await compared([later, runId]);
  // What the two runs share becomes two rows again.
  const rows = await world.ledger.db.selectFrom('run_rows').selectAll().where('since', '=', 1n).execute();
  for (const { sheet, position, since, until, cells } of rows) {
    const parsed: string[] = JSON.parse(cells);
    await world.ledger.db
      .updateTable('run_rows')
      .set({ cells: JSON.stringify(['retired', ...parsed.toReversed()]), until: 2n })
      .where((eb) => eb.and({ sheet, position, since }))
      .execute();
    const shared = { sheet, position, since: 2n, until, cells };
    if (until === null) await world.ledger.db.insertInto('run_rows').values(shared).execute();
  }
  expect(rows.some(({ until }) => until === null)).toBe(true);
  expect((await compared([later, runId])).comparison).toEqual(comparison);
});

it('refuses a run that is not known, the same run twice, and one that has no reports', async () => {
  await twoRuns();
  const why = async (...names: [string, string]): Promise<string> => {
    const done = await world.reporting.compareRuns(names);
    return done.kind === 'refused' ? done.why : 'compared';
  };
  expect(await why(later, '20250101T000000Z')).toContain('no run 20250101T000000Z in this ledger');
  expect(await why(later, later)).toBe('name two different runs');
  await addRun(world.ledger, '20261121T150000Z', '2026-11-21T15:00:00.000Z');
  expect(await why(later, '20261121T150000Z')).toContain('did not finish');
});
