import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { findPeriod, periodDigest, periodRows } from '../../src/books/periods.sql.ts';
import { runRows } from '../../src/books/run-sheets.sql.ts';
import { differenceOf } from '../../src/books/statement/difference.ts';
import { linesByCurrency } from '../../src/books/statement/statement-figures.ts';
import { decimalToMinor } from '../../src/core/domain/money.ts';
import { createRandom } from '../simulation/random.ts';
import { tamper } from '../support/intruder.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { createRandomLives } from './random-lives.ts';
import { makeWorld, type World } from './support.ts';

type Sheet = string[][];
type Books = { statement: Sheet; rows: Sheet };

const parse = (cells: string): string[] => JSON.parse(cells);

async function booksOfRun(world: World, run: string): Promise<Books> {
  const read = async (name: string): Promise<Sheet> => {
    const rows: Sheet = [];
    for await (const page of runRows(world.ledger.db, run, name)) rows.push(...page.map(parse));
    return rows.slice(1);
  };
  return { statement: await read('statement'), rows: await read('statement-rows') };
}

async function booksOfMonth(world: World, month: string): Promise<Books> {
  const read = async (name: string): Promise<Sheet> => {
    const rows: Sheet = [];
    for await (const page of periodRows(world.ledger.db, { month }, name))
      rows.push(...page.map(({ cells }) => parse(cells)));
    return rows.slice(1);
  };
  return { statement: await read('statement'), rows: await read('statement-rows') };
}

const minor = (amount: string, currency: string): bigint => decimalToMinor(amount, currency) ?? 0n;

/** `NGN submitted` → minor units. */
function amounts({ statement }: Books): Map<string, bigint> {
  return new Map(
    statement.flatMap(([currency = '', line = '', , amount = '']) =>
      line === 'fees' ? [] : [[`${currency} ${line}`, minor(amount, currency)] as const],
    ),
  );
}

const currenciesOf = (books: Books[]): string[] => [
  ...new Set(books.flatMap(({ statement }) => statement.map(([currency = '']) => currency))),
];

const rowLines =
  'opening reopened failed refused in_flight unknown returned unseen foreign amount_differences timing unexplained duplicates status_conflicts collisions returns paid_elsewhere'.split(
    ' ',
  );
/** Each is added to what was sent; with them the statement ties. */
const causes =
  'foreign amount_differences timing unexplained duplicates status_conflicts collisions returns paid_elsewhere'.split(
    ' ',
  );

function expectTied(books: Books, told: string): void {
  const sums = amounts(books);
  for (const currency of currenciesOf([books])) {
    const of = (line: string): bigint => sums.get(`${currency} ${line}`) ?? 0n;
    const closing =
      of('opening') + of('submitted') + of('reopened') - of('settled') - of('failed') - of('refused');
    expect(of('closing'), `${told} ${currency} closing`).toBe(closing);
    expect(of('in_flight') + of('unknown'), `${told} ${currency} open`).toBe(closing);
    const unpaid = books.rows
      .filter(
        (row) => row[0] === currency && row[1] === 'reopened' && row[6]?.includes('it had been settled'),
      )
      .reduce((all, row) => all + minor(row[5] ?? '', currency), 0n);
    expect(of('net_paid'), told).toBe(of('settled') - of('returned') - unpaid);
    const sent = of('submitted') - of('failed') - of('refused') - of('unseen');
    expect(of('listed_by_service'), `${told} ${currency} service`).toBe(
      causes.reduce((sum, line) => sum + of(line), sent),
    );
    expectDifference(books, currency, told);
    for (const line of rowLines) {
      const rows = books.rows.filter((row) => row[0] === currency && row[1] === line);
      const sum = rows.reduce((all, row) => all + minor(row[5] ?? '', currency), 0n);
      expect(sum, `${told} ${currency} ${line}`).toBe(of(line));
      const [, , count] = books.statement.find((row) => row[0] === currency && row[1] === line) ?? [];
      expect(rows.length, `${told} ${currency} ${line}`).toBe(Number(count ?? 0));
    }
  }
  expect(books.rows.filter((row) => row[6]?.includes('no recorded cause'))).toEqual([]);
}

/** The difference that finance asks for comes to its reasons, to the last minor unit. */
function expectDifference({ statement }: Books, currency: string, told: string): void {
  const named = statement.map(([code = '', line = '', count = '', amount = '']) => {
    return { currency: code, line, count, amount };
  });
  const { amount, reasons } = differenceOf(linesByCurrency(named).get(currency) ?? {});
  const sum = reasons.reduce((all, { figure }) => all + minor(figure.amount, currency), 0n);
  expect(sum, `${told} ${currency} difference`).toBe(minor(amount, currency));
}

/** What the flows of all periods come to, and what is open at the end. */
function flowsOf(all: Books[]): Record<string, string> {
  const totals: Record<string, string> = {};
  const lines = ['submitted', 'reopened', 'settled', 'failed', 'refused', 'returned', 'net_paid'];
  for (const currency of currenciesOf(all)) {
    for (const line of lines) {
      const sum = all.reduce((total, one) => total + (amounts(one).get(`${currency} ${line}`) ?? 0n), 0n);
      if (sum !== 0n) totals[`${currency} ${line}`] = sum.toString();
    }
    const closing =
      all.at(-1) && amounts(all.at(-1) ?? { statement: [], rows: [] }).get(`${currency} closing`);
    if (closing) totals[`${currency} closing`] = closing.toString();
  }
  return totals;
}

const day = 86_400_000;

it('P30: every statement ties, its rows add up to its lines, and each month opens where the last one closed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
      const random = createRandom(seed);
      const world = await makeWorld('2026-09-01T00:00:00.000Z');
      // Hundreds of small commits: what a power cut would leave of them is no question here.
      if (!onPostgres) await sql`pragma synchronous = off`.execute(world.ledger.db);
      try {
        // October and November of 2026; clocks go back in October in many zones, and `lives` sets its own wrong as well.
        const lives = createRandomLives(world, random, Date.UTC(2026, 8, 20));
        await lives.pass(15 * day, 40);
        const closed: Books[] = [];
        const digests = new Map<string, string>();
        for (const month of ['2026-09', '2026-10']) {
          if (random.chance(0.3)) {
            const { run } = await lives.list(false);
            await world.reporting.freezeRun(run, lives.now());
            expectTied(await booksOfRun(world, run), `run ${run}`);
          }
          await lives.pass(27 * day, 60);
          if (random.chance(0.8)) await lives.list();
          if (random.chance(0.5)) await lives.pass(3 * day, 10);
          const done = await world.reporting.closePeriod(month, lives.now(), 'ada');
          expect(done.kind === 'refused' ? done.why : done.kind).toBe('closed');
          const books = await booksOfMonth(world, month);
          expectTied(books, `month ${month}`);
          const before = closed.at(-1);
          for (const currency of before ? currenciesOf([before, books]) : [])
            expect(amounts(books).get(`${currency} opening`) ?? 0n).toBe(
              (before && amounts(before).get(`${currency} closing`)) ?? 0n,
            );
          closed.push(books);
          if (done.kind === 'closed') digests.set(month, done.period.digest);
        }
        await lives.pass(10 * day, 30);
        const { run } = await lives.list();
        await world.reporting.freezeRun(run, lives.now());
        const open = await booksOfRun(world, run);
        expectTied(open, 'the open month');
        for (const [month, digest] of digests) {
          const period = await findPeriod(world.ledger.db, month);
          expect(period && (await periodDigest(world.ledger.db, period))).toBe(digest);
        }
        await expectWholeLife(world, [...closed, open], { run, now: lives.now() });
      } finally {
        await world.close();
      }
    }),
    { numRuns: 12 },
  );
}, 120_000);

/** The months and the open rest together are the whole: the same ledger, had no month ever been closed. */
async function expectWholeLife(
  world: World,
  parts: Books[],
  { run, now }: { run: string; now: string },
): Promise<void> {
  const split = flowsOf(parts);
  await tamper(
    world.ledger,
    ...['periods', 'period_rows', 'period_transfers'].map((t) => `delete from ${t}`),
  );
  await world.reporting.freezeRun(run, now);
  const whole = await booksOfRun(world, run);
  expectTied(whole, 'the whole life');
  expect(split).toEqual(flowsOf([whole]));
}
