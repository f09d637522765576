import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { discrepancyLines } from '../../src/books/discrepancies/run-facts.sql.ts';
import {
  addBatch,
  addDiscrepancy,
  addListed,
  addPayout,
  addRun,
  cut,
  makeWorld,
  reportRun,
  reportTable,
  reportText,
  runId,
  type World,
} from './support.ts';

let world: World;
beforeEach(async () => {
  world = await makeWorld();
  await addRun(world.ledger);
});
afterEach(() => world.close());

it('P33: knows the amount of a stranger from the run before, whatever the clock said since', async () => {
  const { ledger } = world;
  await addListed(ledger, 'S', { amount: 7_000n });
  await addDiscrepancy(ledger, 'D1', { transfer_id: 'T-S' });
  const [run, startedAt] = ['20251121T140000Z', '2025-11-21T14:00:00.000Z'];
  await addRun(ledger, run, startedAt, 'unread');
  const pages = discrepancyLines(ledger.db, { run, mode: 'test', startedAt, cut: startedAt, through: 0n });
  const money: (bigint | null)[] = [];
  for await (const page of pages) money.push(...page.map((line) => line.money));
  expect(money).toEqual([7_000n]);
});

describe('the files of a run', () => {
  it('gives one row a payout with its match state', async () => {
    const { ledger } = world;
    await addPayout(ledger, 'ok', ['ready', 'sending', 'pending', 'success'], {
      row_number: 2n,
      transfer_id: 'T-ok',
      fee: '10.00',
      submitted_at: '2026-11-21T12:01:00.000Z',
      evidence: 'response+listing',
    });
    await addListed(ledger, 'ok');
    await addPayout(ledger, 'less', ['ready', 'sending', 'pending', 'success']);
    await addListed(ledger, 'less', { amount: 1n });
    await addPayout(ledger, 'gone', ['ready', 'sending', 'pending']);
    await addPayout(ledger, 'lost', ['ready', 'sending', 'unknown']);
    await addPayout(ledger, 'held', ['held']);
    await addPayout(ledger, 'renamed', ['ready', 'sending', 'pending'], { transfer_id: 'T-other' });
    await addListed(ledger, 'other', { status: 'pending' });
    await reportRun(world);
    const rows = reportTable(world, 'payouts.csv');
    expect(reportText(world, 'payouts.csv').split('\r\n')[1]).toBe(
      'ok,b-20261121-000001,2,0123456789,Ada Obi,058,100.00,NGN,success,matched,T-ok,,10.00,success,100.00,2026-11-21T13:01:00.000+01:00,,response+listing,submitted+settled+listed_by_service',
    );
    expect(rows.slice(1).map((row) => [row[0], row[9]])).toEqual([
      ['ok', 'matched'],
      ['less', 'differs'],
      ['gone', 'not_listed'],
      ['lost', 'in_flight'],
      ['held', 'never_sent'],
      ['renamed', 'matched'],
    ]);
  });

  it('lists what is open or acknowledged and what the run resolved, and ages only the former', async () => {
    const { ledger } = world;
    const payout = await addPayout(ledger, 'R1', ['ready', 'sending', 'pending']);
    await addDiscrepancy(ledger, 'D1', {
      payout_id: payout,
      first_seen_at: '2026-11-17T13:05:00.000Z',
      note: '=x',
    });
    await addDiscrepancy(ledger, 'D2', {
      state: 'acknowledged',
      kind: 'missing_in_ledger',
      transfer_id: 'T-f',
    });
    await addListed(ledger, 'f', { amount: 700n });
    await addDiscrepancy(ledger, 'D3', { state: 'resolved', resolved_at: '2026-11-21T13:01:00.000Z' });
    await addDiscrepancy(ledger, 'D4', { state: 'resolved', resolved_at: '2026-11-20T13:01:00.000Z' });
    await reportRun(world);
    expect(reportText(world, 'discrepancies.csv').split('\r\n').slice(0, 2)).toEqual([
      '\ufeffdiscrepancy_id,kind,severity,reference,batch,trx,transfer_id,currency,expected,actual,difference,first_seen_at,last_seen_at,age_days,state,evidence,action,note',
      "D1,amount_conflict,high,R1,b-20261121-000001,,,NGN,100.00,90.00,-10.00,2026-11-17T14:05:00.000+01:00,2026-11-21T14:00:00.000+01:00,4,open,listing,Stop further payments to this beneficiary and ask the service why the amount differs.,'=x",
    ]);
    expect(reportTable(world, 'discrepancies.csv').map((row) => row[0])).toEqual([
      'discrepancy_id',
      'D1',
      'D2',
      'D3',
    ]);
    expect(reportText(world, 'ageing.csv')).toBe(
      '\ufeffcurrency,kind,bucket,count,amount\r\nNGN,amount_conflict,4-7,1,100.00\r\nNGN,missing_in_ledger,0-1,1,7.00\r\n',
    );
  });

  it('are the same bytes when written again after the ledger went on', async () => {
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending']);
    await addDiscrepancy(world.ledger, 'D1');
    await reportRun(world);
    const folder = join(world.reports, `reconciliation-${runId}`);
    const names = readdirSync(folder);
    expect(names).toContain('report.html');
    expect(names).toContain('report.xlsx');
    const before = names.map((name) => readFileSync(join(folder, name)));
    await addPayout(world.ledger, 'R2', ['ready', 'sending', 'pending', 'success']);
    await world.ledger.db.updateTable('payouts').set({ state: 'success', evidence: 'listing' }).execute();
    await world.ledger.db.deleteFrom('discrepancies').execute();
    await world.ledger.db.deleteFrom('listed').execute();
    rmSync(folder, { recursive: true });
    expect((await world.reporting.writeRun(runId)).toSorted()).toEqual(
      names.map((name) => join(folder, name)).toSorted(),
    );
    for (const [index, name] of names.entries())
      expect(readFileSync(join(folder, name)).equals(before[index] ?? Buffer.of()), name).toBe(true);
    expect(reportText(world, 'summary.json')).toBe(
      `{\n  "schema": 1,\n  "run": "${runId}",\n  "complete": true,\n  "passes": 2\n}\n`,
    );
  });

  it('mask the account numbers of their rows, and leave the names of the columns alone', async () => {
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending']);
    await reportRun(world);
    await world.with('{ mask_accounts: true }').writeRun(runId);
    const [header = [], ...rows] = reportTable(world, 'payouts.csv');
    const at = header.indexOf('account_number');
    expect(at).toBeGreaterThan(-1);
    expect(rows.map((row) => row[at])).toEqual(['******6789']);
  });

  it('freezes several pages of payouts, and again from nothing after an interruption', async () => {
    for (let n = 0; n < 1_001; n++) await addPayout(world.ledger, `R${n}`, ['ready']);
    const stale = { sheet: 'payouts', position: 0n, since: 1n, cells: '["half a freeze"]' };
    await world.ledger.db.insertInto('run_rows').values(stale).execute();
    await expect(world.reporting.writeRun(runId)).rejects.toThrow('did not finish');
    expect(await world.reporting.lastRun()).toBeNull();
    await reportRun(world);
    expect(
      reportTable(world, 'payouts.csv')
        .slice(1)
        .map((row) => row[0]),
    ).toEqual(Array.from({ length: 1_001 }, (_, n) => `R${n}`));
    expect(await world.reporting.lastRun()).toBe(runId);
  });
});

describe('index.html', () => {
  it('links every batch with results and every finished run, newest first, with names escaped', async () => {
    const { ledger, reporting } = world;
    expect(readFileSync(await reporting.writeIndex(), 'utf8')).toContain(
      'No reconciliation has finished yet.',
    );
    await addBatch(ledger, 'a<b-20261122', { createdAt: '2026-11-22T12:00:00.000Z' });
    await reporting.writeDueBatchResults();
    await addRun(ledger, '20261122T130000Z', '2026-11-22T13:00:00.000Z');
    await addRun(ledger, '20261122T130007Z', '2026-11-22T13:00:07.000Z');
    await addRun(ledger, 'unfinished', '2026-11-23T13:00:00.000Z');
    for (const run of [runId, '20261122T130000Z', '20261122T130007Z']) {
      await reporting.freezeRun(run, cut);
      await reporting.writeRun(run);
    }
    const html = readFileSync(await reporting.writeIndex(), 'utf8');
    expect(
      [...html.matchAll(/<th scope="row">(?:<(?:a|span)[^>]*>)?([^<]*)(?:<\/(?:a|span)>)?<small>/g)].map(
        (row) => row[1] ?? '',
      ),
    ).toEqual([
      ...['a&#60;b-20261122', 'b-20261121-000001'],
      ...['22 Nov 2026, 14:00:07', '22 Nov 2026, 14:00:00', '21 Nov 2026, 14:00'],
    ]);
    expect(html).toContain('Latest reconciliation, 22 Nov 2026, 14:00');
    expect(html).toContain('href="a%3Cb-20261122/results.csv"');
    expect(html).toContain(`href="reconciliation-${runId}/statement.csv"`);
    expect(html).not.toMatch(/https?:|<link/);
  });
});
