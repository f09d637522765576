import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';
import readSheets from 'read-excel-file/node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { monthAfter, readMonth } from '../../src/books/statement/months.ts';
import type { PayoutState } from '../../src/core/domain/payout.ts';
import { newestHistory } from '../../src/core/ledger/history.ts';
import { checkPeriods } from '../../src/custody/verify-periods.ts';
import { notClosableText, periodWarningTexts } from '../../src/words/period-words.ts';
import { checkedText, ledgerProblemText } from '../../src/words/verify-words.ts';
import { tamper } from '../support/intruder.ts';
import { addBatch as addLoaded } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { addListed, addPayout, addRun, makeWorld, type World } from './support.ts';

let world: World;
beforeEach(async () => {
  world = await makeWorld('2026-09-01T00:00:00.000Z');
});
afterEach(() => world.close());

const read = (file: string): string => readFileSync(join(world.reports, file), 'utf8');
/** The lines that are not zero, as `line: [count, amount]`. */
function lines(file: string): Record<string, [string, string]> {
  const rows: string[][] = parse(read(file), { bom: true });
  const shown = rows.filter(([currency, , count]) => currency === 'NGN' && count !== '0');
  return Object.fromEntries(shown.map(([, line = '', count = '', amount = '']) => [line, [count, amount]]));
}

const october = (day: number): string => `2026-10-${String(day).padStart(2, '0')}T12:00:00.000Z`;
const november = (day: number): string => october(day).replace('-10-', '-11-');

async function goOn(reference: string, from: PayoutState, to: PayoutState, at: string): Promise<void> {
  const { db } = world.ledger;
  const { id } = await db
    .selectFrom('payouts')
    .select('id')
    .where('reference', '=', reference)
    .executeTakeFirstOrThrow();
  const last = await db
    .selectFrom('history')
    .select('seq')
    .where('payout_id', '=', id)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  // The other entries name their ids, of which a sequence of the database does not know.
  const newest = await newestHistory(db);
  const entry = {
    id: newest + 1n,
    payout_id: id,
    seq: last.seq + 1n,
    at,
    event: 'looked_up' as const,
    source: 'test',
    from_state: from,
    to_state: to,
  };
  await db
    .insertInto('history')
    .values({ ...entry, detail: '{}', prev_hash: '', hash: '' })
    .execute();
  await db.updateTable('payouts').set({ state: to }).where('id', '=', id).execute();
}

const run = '20261031T230500Z';

/** One paid in October, one open over its end, one lost; a list read after the month's end. */
async function liveThroughOctober(): Promise<void> {
  const { ledger } = world;
  await addPayout(ledger, 'paid', ['ready', 'sending', 'pending', 'success'], {
    times: [1, 2, 3, 4].map(october),
  });
  await addPayout(ledger, 'open', ['ready', 'sending', 'pending'], { times: [20, 21, 22].map(october) });
  await addPayout(ledger, 'lost', ['ready', 'sending', 'unknown'], { times: [20, 21, 22].map(october) });
  await addRun(ledger, run, '2026-10-31T23:05:00.000Z');
  const created_at = october(21);
  const paired = async (reference: string) =>
    (
      await ledger.db
        .selectFrom('payouts')
        .select('id')
        .where('reference', '=', reference)
        .executeTakeFirstOrThrow()
    ).id;
  await addListed(ledger, 'paid', { run_id: run, created_at: october(2), payout_id: await paired('paid') });
  await addListed(ledger, 'open', {
    run_id: run,
    created_at,
    status: 'pending',
    payout_id: await paired('open'),
  });
  await addListed(ledger, 'nobody', { run_id: run, created_at: november(1), amount: 500n });
}

it('names what failed and is not paid again when a month is closed, by state and currency', async () => {
  const { ledger } = world;
  const [first = 0n] = await addLoaded(ledger, ['F-1', 'F-2', 'F-3'], { state: 'failed' });
  await addLoaded(ledger, ['F-1-R2'], { id: 'b-2', state: 'success', successor_of: first });
  await addLoaded(ledger, ['F-4'], { id: 'b-3', state: 'failed', currency: 'JPY', amount: 900n });
  await addLoaded(ledger, ['R-1'], { id: 'b-4', state: 'returned' });
  await ledger.db
    .updateTable('batches')
    .set({ created_at: october(1) })
    .execute();
  await addLoaded(ledger, ['N-1'], { id: 'b-5', state: 'failed' });
  const closed = await world.reporting.closePeriod('2026-10', november(2), 'ada');
  const warnings = closed.kind === 'closed' ? closed.warnings.map(periodWarningTexts) : [];
  expect(warnings.map(({ page }) => page)).toEqual([
    'no complete list was ever read, so that nothing is compared',
    '2 (NGN 3000.00) failed, and not paid again',
    '1 (JPY 900) failed, and not paid again',
    '1 (NGN 1500.00) returned, and not paid again',
  ]);
  expect(warnings.at(-1)?.command).toMatch(/\. Next: counterfoil payouts --state returned$/);
});

it('the files of a closed month and the page that links it are written', async () => {
  await liveThroughOctober();
  await world.reporting.closePeriod('2026-10', november(2), 'ada');
  await world.reporting.writePeriod('2026-10');
  expect(lines('period-2026-10/statement.csv').submitted).toEqual(['3', '300.00']);
  await world.reporting.writeIndex();
  expect(read('index.html')).toContain('period-2026-10/statement.csv');
});

it('a closed month has a page and a workbook to sign: who closed it and when, the verdict, the digest', async () => {
  await liveThroughOctober();
  const closed = await world.reporting.closePeriod('2026-10', november(2), 'ada <b>');
  const digest = closed.kind === 'closed' ? closed.period.digest : '';
  const files = (await world.reporting.writePeriod('2026-10')) ?? [];
  const html = read('period-2026-10/report.html');
  const text = html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  expect(text).toContain('October 2026, closed');
  expect(text).toMatch(/Closed by ada &#60;b&#62; Closed at 2 Nov 2026, 13:00/);
  expect(text).toContain(
    '✗ NGN: exceptions Total difference: NGN 100.00, listed less net paid. Not on the list: 1, NGN −100.00 Do not sign off.',
  );
  expect(text).toContain(`Digest ${digest}`);
  const [summary, statement] = await readSheets(files.find((name) => name.endsWith('.xlsx')) ?? '');
  const rows = (summary?.data ?? []).map((row) => row.filter((cell) => cell !== null));
  expect(rows).toContainEqual(['Closed by', 'ada <b>']);
  expect(rows).toContainEqual(['Closed at', new Date('2026-11-02T13:00:00.000Z')]);
  expect(rows).toContainEqual(['Digest (SHA-256)', digest]);
  expect(rows).toContainEqual(['Net paid', 'NGN', 1, 100]);
  expect(rows).toContainEqual(['NGN: ✗ exceptions', 'Do not sign off before these lines are explained:']);
  expect(statement?.data[0]).toEqual(['currency', 'line', 'count', 'amount', 'verdict']);
  const before = files.map((name) => readFileSync(name));
  await addPayout(world.ledger, 'later', ['ready', 'sending', 'pending']);
  await world.reporting.writePeriod('2026-10');
  expect(files.map((name) => readFileSync(name))).toEqual(before);
  const index = readFileSync(await world.reporting.writeIndex(), 'utf8');
  expect(index).toContain('<a href="period-2026-10/report.html">October 2026</a>');
});

it('the page of a closed month keeps what the service wrote as text', async () => {
  await liveThroughOctober();
  await addListed(world.ledger, 'odd', {
    run_id: run,
    created_at: october(3),
    currency: '"><img src=x>',
    amount: null,
    amount_text: '1',
  });
  await world.reporting.closePeriod('2026-10', november(2), 'ada');
  await world.reporting.writePeriod('2026-10');
  const pages = read('period-2026-10/report.html') + readFileSync(await world.reporting.writeIndex(), 'utf8');
  expect(pages).toContain('&#62;&#60;img');
  expect(pages).not.toContain('<img');
});

it('who closed a month is part of its digest', async () => {
  await liveThroughOctober();
  await world.reporting.closePeriod('2026-10', november(2), 'ada');
  await tamper(world.ledger, "update periods set closed_by = 'eve'");
  expect((await checkPeriods(world.ledger.db)).map(checkedText)).toEqual([
    'periods: 2026-10: its frozen rows do not match its digest',
  ]);
});

it('P30: a closed month keeps its figures, and the next one opens with what was under way', async () => {
  await liveThroughOctober();
  const closed = await world.reporting.closePeriod('2026-10', november(2), 'ada');
  const warnings =
    closed.kind === 'closed' ? closed.warnings.map((one) => periodWarningTexts(one).command) : [];
  expect({ ...closed, warnings }).toMatchObject({
    kind: 'closed',
    period: { month: '2026-10', ends_at: '2026-10-31T23:00:00.000Z', run_id: run },
    warnings: [
      '1 (NGN 100.00) still under way when the month ended; the next month opens with them',
      '1 (NGN 100.00) unknown when the month ended: they may be paid; the next month opens with them',
      '1 (NGN 100.00) sent, and not listed by the service',
    ],
  });
  await world.reporting.writePeriod('2026-10');
  const before = ['statement.csv', 'statement-rows.csv'].map((name) => read(`period-2026-10/${name}`));
  expect(lines('period-2026-10/statement.csv')).toEqual({
    submitted: ['3', '300.00'],
    settled: ['1', '100.00'],
    closing: ['2', '200.00'],
    in_flight: ['1', '100.00'],
    unknown: ['1', '100.00'],
    net_paid: ['1', '100.00'],
    listed_by_service: ['2', '200.00'],
    unseen: ['1', '100.00'],
  });
  // The clock was set back: what is recorded after the closing is of today all the same.
  await goOn('open', 'pending', 'failed', october(5));
  await goOn('lost', 'unknown', 'success', november(3));
  const next = '20261103T120000Z';
  await addRun(world.ledger, next, november(3));
  for (const reference of ['open', 'lost']) {
    const row = await world.ledger.db
      .selectFrom('payouts')
      .select('id')
      .where('reference', '=', reference)
      .executeTakeFirstOrThrow();
    const status = reference === 'open' ? 'failed' : 'success';
    await addListed(world.ledger, reference, {
      run_id: next,
      created_at: october(21),
      status,
      payout_id: row.id,
    });
  }
  const paid = await world.ledger.db
    .selectFrom('payouts')
    .select('id')
    .where('reference', '=', 'paid')
    .executeTakeFirstOrThrow();
  await addListed(world.ledger, 'paid', { run_id: next, created_at: october(2), payout_id: paid.id });
  await addListed(world.ledger, 'nobody', { run_id: next, created_at: november(1), amount: 500n });
  await world.reporting.freezeRun(next, november(3));
  await world.reporting.writeRun(next);
  expect(lines(`reconciliation-${next}/statement.csv`)).toEqual({
    opening: ['2', '200.00'],
    settled: ['1', '100.00'],
    failed: ['1', '100.00'],
    net_paid: ['1', '100.00'],
    listed_by_service: ['2', '105.00'],
    foreign: ['1', '5.00'],
    timing: ['2', '200.00'],
  });
  const rows: string[][] = parse(read(`reconciliation-${next}/statement-rows.csv`), { bom: true });
  expect(
    rows
      .filter(([, line]) => line === 'timing')
      .map(([, , reference, , , amount, why]) => [reference, amount, why]),
  ).toEqual([
    [
      'open',
      '100.00',
      'submitted in an earlier month; in this one: looked_up, 2026-10-05T13:00:00.000+01:00',
    ],
    ['lost', '100.00', 'sent in an earlier month, listed only since: transfer T-lost, success'],
  ]);
  await world.reporting.writePeriod('2026-10');
  expect(['statement.csv', 'statement-rows.csv'].map((name) => read(`period-2026-10/${name}`))).toEqual(
    before,
  );
  expect(await checkPeriods(world.ledger.db)).toEqual([]);
});

it('closes a month that is over, in order and once', async () => {
  await liveThroughOctober();
  const refused = async (month: string, now = november(2)): Promise<string> => {
    const done = await world.reporting.closePeriod(month, now, 'ada');
    return done.kind === 'refused' ? notClosableText(done.why) : 'closed';
  };
  expect(await refused('october')).toBe('"october" is no month: write it as YYYY-MM, such as 2026-10');
  expect(await refused('2026-11')).toBe(
    '2026-11 is not over: it can be closed from 2026-12-01 on (Africa/Lagos)',
  );
  expect(await refused('2026-10', '2026-10-31T22:59:59.999Z')).toContain('is not over');
  expect(await refused('2026-10')).toBe('closed');
  expect(await refused('2026-10')).toContain('2026-10 was closed at 2026-11-02T12:00:00.000Z');
  expect(await refused('2026-09')).toContain('the next is 2026-11');
  expect(await refused('2026-12', '2027-02-01T00:00:00.000Z')).toBe(
    'months are closed in order: the next is 2026-11',
  );
});

it.skipIf(onPostgres)('P12: a closing that fails half-way leaves nothing', async () => {
  await liveThroughOctober();
  const raw = new Database(world.ledger.path);
  raw.exec(
    "create trigger no_room before insert on periods begin select raise(abort, 'the disk is full'); end",
  );
  await expect(world.reporting.closePeriod('2026-10', november(2), 'ada')).rejects.toThrow(
    'the disk is full',
  );
  for (const table of ['periods', 'period_rows', 'period_transfers'])
    expect(raw.prepare(`select count(*) as n from ${table}`).get()).toEqual({ n: 0 });
  raw.exec('drop trigger no_room');
  raw.close();
  expect((await world.reporting.closePeriod('2026-10', november(2), 'ada')).kind).toBe('closed');
});

it.skipIf(onPostgres)(
  'P30: verify proves closed figures, against their digest and against the history',
  async () => {
    await liveThroughOctober();
    await world.reporting.closePeriod('2026-10', november(2), 'ada');
    expect(await checkPeriods(world.ledger.db)).toEqual([]);
    const raw = new Database(world.ledger.path);
    const change = `update period_rows set cells = replace(cells, '"300.00"', '"400.00"') where sheet = 'statement'`;
    expect(() => raw.exec(change)).toThrow('a closed month never changes');
    expect(() => raw.exec("insert into period_rows values ('2026-10', 'statement', 99, '[]')")).toThrow(
      'never',
    );
    raw.exec(`drop trigger period_rows_no_update; ${change}`);
    raw.close();
    expect((await checkPeriods(world.ledger.db)).map(ledgerProblemText)).toEqual([
      '2026-10: its frozen rows do not match its digest',
      '2026-10: submitted in NGN is 300.00 by the history, 400.00 in its statement',
    ]);
  },
);

it('a clock that jumped for a moment moves no day into another month', async () => {
  await addPayout(world.ledger, 'a', ['ready', 'sending', 'pending'], {
    asAdded: true,
    times: [october(3), '2027-03-01T00:00:00.000Z', october(4)],
  });
  await addPayout(world.ledger, 'b', ['ready', 'sending', 'pending'], {
    asAdded: true,
    times: [5, 6, 7].map(october),
  });
  await addPayout(world.ledger, 'c', ['ready', 'sending', 'pending', 'success'], {
    asAdded: true,
    times: [november(1), november(1), october(2), november(1)],
  });
  await world.reporting.closePeriod('2026-10', november(2), 'ada');
  await world.reporting.writePeriod('2026-10');
  expect(lines('period-2026-10/statement.csv').submitted).toEqual(['2', '200.00']);
});

it('a month begins and ends as its zone has it, with days of 23 and 25 hours', () => {
  const zone = 'Europe/Berlin';
  expect(readMonth('2026-10', zone)).toEqual({
    month: '2026-10',
    startsAt: '2026-09-30T22:00:00.000Z',
    endsAt: '2026-10-31T23:00:00.000Z',
  });
  expect(readMonth('2026-03', zone)).toMatchObject({
    startsAt: '2026-02-28T23:00:00.000Z',
    endsAt: '2026-03-31T22:00:00.000Z',
  });
  expect(readMonth('2026-13', zone)).toBeNull();
  expect(monthAfter('2026-12')).toBe('2027-01');
});

it('P29: a short cut has the older rows of the whole list behind it, as far as it does not show them itself', async () => {
  const { ledger } = world;
  const ids = new Map<string, bigint>();
  for (const name of ['old', 'moved', 'new'])
    ids.set(
      name,
      await addPayout(ledger, name, ['ready', 'sending', 'pending', 'success'], {
        times: [1, 2, 3, 4].map(october),
      }),
    );
  const listed = (run_id: string, name: string, created_at: string, status = 'success') =>
    addListed(ledger, name, { run_id, created_at, status, payout_id: ids.get(name) ?? null });
  await addRun(ledger, 'whole', november(1));
  await listed('whole', 'old', october(2));
  await listed('whole', 'moved', october(2), 'pending');
  await listed('whole', 'foreign', october(3));
  await listed('whole', 'gone', october(28));
  await addRun(ledger, 'short', november(2));
  await tamper(ledger, `update runs set base_run_id = 'whole', edge = '${october(20)}' where id = 'short'`);
  await listed('short', 'moved', october(2));
  await listed('short', 'new', october(21));
  await world.reporting.freezeRun('short', november(2));
  await world.reporting.writeRun('short');
  expect(lines('reconciliation-short/statement.csv')).toEqual({
    submitted: ['3', '300.00'],
    settled: ['3', '300.00'],
    net_paid: ['3', '300.00'],
    listed_by_service: ['4', '400.00'],
    foreign: ['1', '100.00'],
  });
});
