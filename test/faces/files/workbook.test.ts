import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import readSheets from 'read-excel-file/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addDiscrepancy,
  addListed,
  addPayout,
  addRun,
  cut,
  makeWorld,
  runId,
  type World,
} from '../../books/support.ts';

let world: World;
beforeEach(async () => {
  world = await makeWorld();
  await addRun(world.ledger);
});
afterEach(() => world.close());

const file = (): string => join(world.reports, `reconciliation-${runId}`, 'report.xlsx');
async function sheets(): Promise<Record<string, unknown[][]>> {
  const all = await readSheets(file());
  return Object.fromEntries(all.map(({ sheet, data }) => [sheet, data]));
}

describe('report.xlsx', () => {
  it('holds every table on a sheet of its own, account numbers as text and amounts as numbers', async () => {
    const payout = await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success'], {
      submitted_at: '2026-11-21T12:01:00.000Z',
      settled_at: '2026-11-21T12:02:00.000Z',
      final_at: '2026-11-21T12:02:00.000Z',
    });
    await addPayout(world.ledger, 'R2', ['ready'], { amount: 9_007_199_254_740_993n });
    await addDiscrepancy(world.ledger, 'D1', { payout_id: payout });
    await world.reporting.freezeRun(runId, cut);
    await world.reporting.writeRun(runId);
    const found = await sheets();
    expect(Object.keys(found).slice(0, 13)).toEqual(
      'Summary Action Statement Payouts Discrepancies Ageing Collections States Days Failures Banks Fees'
        .split(' ')
        .concat('Settle times'),
    );
    const [header = [], first = [], second = []] = found.Payouts ?? [];
    const at = (name: string): number => header.indexOf(name);
    expect([first[at('account_number')], first[at('amount')]]).toEqual(['0123456789', 100]);
    expect(second[at('amount')]).toBe('90071992547409.93');
    expect(first[at('submitted_at')]).toEqual(new Date('2026-11-21T13:01:00.000Z'));
    expect(found.Action?.[1]?.slice(0, 5)).toEqual([
      'high',
      'amount_conflict',
      'R1',
      'Ada Obi',
      '0123456789',
    ]);
    expect(found['Settle times']?.[1]).toEqual(['NGN', new Date('2026-11-21'), 1, 60, 60]);
    expect(found.States?.at(-1)).toEqual(['Total NGN, 2 rows', null, 2, '90071992547509.93']);
  });

  it('says in words first what the verdict is, where the money is and what needs a person', async () => {
    const payout = await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success']);
    await addListed(world.ledger, 'R1', { payout_id: payout, amount: 9_000n });
    await addDiscrepancy(world.ledger, 'D1', { payout_id: payout });
    await world.reporting.freezeRun(runId, cut);
    await world.ledger.db.updateTable('run_verdicts').set({ overturned: 1n }).execute();
    await world.reporting.writeRun(runId);
    const told = ((await sheets()).Summary ?? []).map((row) => row.filter((cell) => cell !== null));
    expect(told[0]).toEqual(['Reconciliation, 21 Nov 2026, 14:00']);
    expect(told).toContainEqual(['NGN: ✗ exceptions', 'Do not sign off before these lines are explained:']);
    expect(told).toContainEqual(['Reported as paid, failed on the list', 'NGN', 1]);
    const at = told.findIndex(([name]) => name === 'Total difference');
    expect(told.slice(at, at + 2)).toEqual([
      ['Total difference', 'NGN', -10, 'listed less net paid'],
      ['of it: Amount differences', 'NGN', 1, -10],
    ]);
    expect(told).toContainEqual(['success', 'NGN', 1, 100]);
    expect(told).toContainEqual(['Amount conflict', 'NGN', 1, 100, 'high']);
  });

  it('says that nothing was checked where the list was not usable', async () => {
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending']);
    const run = '20261121T150000Z';
    await addRun(world.ledger, run, '2026-11-21T15:00:00.000Z', 'unread');
    await world.reporting.freezeRun(run, cut);
    const files = await world.reporting.writeRun(run);
    const path = files.find((name) => name.endsWith('report.xlsx')) ?? '';
    const text = JSON.stringify((await readSheets(path))[0]?.data);
    expect(text).toContain('NGN: ○ not compared');
    expect(text).toContain('Not checked: the list was not usable.');
    expect(text).not.toMatch(/reconciled|no discrepancy is open/);
  });

  it('says where the rows are that a workbook does not hold', async () => {
    await world.reporting.freezeRun(runId, cut);
    await world.ledger.write((trx) =>
      sql`insert into run_rows (sheet, position, since, cells)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 100001)
        select 'payouts', 10 + i, 1, '["R","B"]' from n`.execute(trx),
    );
    const files = await world.reporting.writeRun(runId);
    expect((await sheets()).Payouts).toEqual([
      ['note'],
      ['more than 100000 rows, which a workbook does not hold here: they are in payouts.csv'],
    ]);
    const csv = readFileSync(files.find((name) => name.endsWith('payouts.csv')) ?? '', 'utf8');
    expect(csv.split('\r\n')).toHaveLength(100_003);
  });

  it('names what needs a person with the gravest first', async () => {
    for (const [severity, kind] of [
      ['low', 'fee_conflict'],
      ['medium', 'stale_pending'],
      ['high', 'unknown_outcome'],
    ] as const)
      await addDiscrepancy(world.ledger, `D-${kind}`, { severity, kind });
    await world.reporting.freezeRun(runId, cut);
    await world.reporting.writeRun(runId);
    const kinds = ((await sheets()).Summary ?? []).map(([first]) => first);
    const at = kinds.indexOf('Discrepancy');
    expect(kinds.slice(at + 1, at + 4)).toEqual(['Unknown outcome', 'Stale pending', 'Fee conflict']);
  });

  it('carries no time of day, so that writing it again gives the same bytes', async () => {
    await world.reporting.freezeRun(runId, cut);
    await world.reporting.writeRun(runId);
    const bytes = readFileSync(file());
    const entries = bytes.toString('latin1').split('PK\u0001\u0002').slice(1);
    const times = entries.map((entry) => entry.slice(8, 12));
    expect(times.length).toBeGreaterThan(5);
    expect(new Set(times)).toEqual(new Set(['\u0000\u0000\u0021\u0000']));
  });
});
