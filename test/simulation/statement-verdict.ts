import { accountIn } from '../../src/app/looking.ts';
import { findRun } from '../../src/books/batch-results.sql.ts';
import { lastPeriod, listingOf } from '../../src/books/periods.sql.ts';
import { computeStatement } from '../../src/books/statement/compute-statement.ts';
import type { About } from '../../src/books/statement/entry.ts';
import { decimalToMinor } from '../../src/core/domain/money.ts';
import { newestHistory } from '../../src/core/ledger/history.ts';
import { foreignOrigins } from '../../src/core/ledger/origins.ts';
import type { Db } from '../../src/core/storage/ledger.ts';
import { openSnapshot } from '../../src/custody/snapshot.ts';
import { newestCompleteRun } from '../../src/watching/listing/listings.sql.ts';
import { frozenWords } from '../../src/words/frozen-words.ts';
import { type Books, lines, readBooks } from '../oracle/books.ts';
import { type Inspector, readWhole } from './inspector.ts';
import { countedTransfers, ordersOf, transfersOf } from './oracle-input.ts';
import type { Town } from './town.ts';

type Row = {
  currency: string;
  line: string;
  reference: string;
  transferId: string;
  amount: bigint;
  why: string;
};
type Printed = { sums: Map<string, Shown>; verdicts: Map<string, string>; rows: Row[] };
type Shown = { count: number; amount: bigint };

/**
 * P30: the product's statement over the whole day, and cut in two at any entry, line by line as the independent reader
 * has it from the service's own book. So it ties, each period opens where the last one closed, and every cause is real.
 */
export async function judgeStatement(town: Town): Promise<void> {
  const { db, close } = await openSnapshot(town.config.ledgerFile);
  try {
    // The book is judged as the account shows it that is named at the end.
    const foreign = await foreignOrigins(db, accountIn(town.settingNow().config));
    const complete = await newestCompleteRun(db, foreign);
    const run = complete && (await findRun(db, complete.id));
    if (!run) return;
    const known = await newestHistory(db);
    // P30: today begins where the closed month ended, and holds what that month counted against the list all the same.
    const from = (await lastPeriod(db))?.through_history ?? 0n;
    const about: About = {
      mode: 'test',
      span: { from, through: known },
      known,
      // Without a grace: what the book has not, and the list therefore not, is unseen at once.
      listing: listingOf(run, 0),
      since: '',
      until: null,
      show: (instant) => instant,
      words: frozenWords,
    };
    // Against a list that shows none of ours, or is not complete, nothing is compared, and the run says so (P35).
    const isComparable = !isOthersList(town.inspector) && town.service.listFlaw() === null;
    const middle = BigInt(town.world.random.fork('statement').between(Number(from), Number(known)));
    const rows = transfersOf(town, ({ account }) => account === 'home');
    const orders = ordersOf(town, () => 0);
    const counted = countedTransfers(town);
    for (const span of [
      { from, through: known },
      { from, through: middle },
      { from: middle, through: known },
    ]) {
      const period = {
        from: Number(span.from),
        through: Number(span.through),
        known: Number(known),
        counted,
      };
      const list = { usable: isComparable, rows, readAt: town.world.now(), graceMs: 0 };
      const told = `entries ${span.from} to ${span.through}`;
      const books = readBooks(orders, list, period);
      judgeLines(town, await printed(db, { ...about, span }), books, { told, isComparable });
      if (span.through === known && span.from === from && isComparable) judgeFindings(town, books);
    }
  } finally {
    await close();
  }
}

/** The newest list that was read whole shows none of what the service is known to have from this ledger. */
export function isOthersList(inspector: Inspector): boolean {
  const sql = `select list_standing as list from runs where ${readWhole} order by rowid desc limit 1`;
  const [newest] = inspector.rows<{ list: string }>(sql);
  return newest?.list === 'not_ours' || newest?.list === 'shows_none';
}

async function printed(db: Db, about: About): Promise<Printed> {
  const rows: Row[] = [];
  const { rows: statement, verdicts } = await computeStatement(db, about, {
    async rows(placed) {
      for (const { cells } of placed) {
        const [currency = '', line = '', reference = '', , transferId = '', amount = '', why = ''] = cells;
        rows.push({ currency, line, reference, transferId, amount: minor(amount, currency), why });
      }
    },
  });
  const sums = new Map<string, Shown>();
  for (const { currency, line, count, amount } of statement)
    sums.set(`${currency} ${line}`, { count: Number(count), amount: minor(amount, currency) });
  return { sums, rows, verdicts: new Map(verdicts.map(({ currency, verdict }) => [currency, verdict])) };
}

const minor = (amount: string, currency: string): bigint => decimalToMinor(amount, currency) ?? 0n;

/** Lines of our own side; the others need a list. */
const ownLines = ['opening', 'submitted', 'reopened', 'settled', 'failed', 'refused', 'closing', 'in_flight'];
ownLines.push('unknown', 'returned', 'net_paid', 'fees');

type Compared = { told: string; isComparable: boolean };

function judgeLines(
  { world }: Town,
  { sums, rows, verdicts }: Printed,
  { statements }: Books,
  { told, isComparable }: Compared,
): void {
  const fail = (rule: string, detail: string): void => world.violate(rule, `${told}, ${detail}`);
  for (const currency of new Set([...verdicts.keys(), ...statements.keys()])) {
    const read = statements.get(currency);
    for (const line of isComparable ? lines : ownLines) {
      const is = sums.get(`${currency} ${line}`) ?? { count: 0, amount: 0n };
      const should = read?.lines[line] ?? { count: 0, amount: 0n };
      // What was told once, and no line shows, stays open until a person resolves it.
      const isMore = line === 'open_conflicts' && is.count >= should.count;
      // The rest is one entry, or one each for what was reopened.
      const countMatters = line !== 'timing' && line !== 'amount_differences' && !isMore;
      if (is.amount !== should.amount || (countMatters && is.count !== should.count))
        fail(
          'P30: the statement is what the books say',
          `${currency} ${line} is ${is.count}: ${is.amount}, the books have ${should.count}: ${should.amount}`,
        );
    }
    for (const line of new Set(rows.map((row) => row.line))) {
      const own = rows.filter((row) => row.line === line && row.currency === currency);
      const sum = own.reduce((total, { amount }) => total + amount, 0n);
      const is = sums.get(`${currency} ${line}`)?.amount ?? 0n;
      if (sum !== is) fail('P30: the statement ties', `${currency} ${line} is ${is}, its rows ${sum}`);
    }
    const isTold = (sums.get(`${currency} open_conflicts`)?.count ?? 0) > 0;
    const verdict = verdicts.get(currency);
    if (isComparable && verdict !== read?.verdict && !(verdict === 'exceptions' && isTold))
      fail(
        'P35: the verdict is that of the books',
        `${currency} is ${verdict}, the books say ${read?.verdict}`,
      );
  }
  for (const { reference, line } of rows.filter(({ why }) => why.startsWith('no recorded cause')))
    fail('P30: every rest has a cause', `${line} ${reference}`);
}

/** Each difference between the books and the list is open as a discrepancy that names it. */
function judgeFindings({ world, inspector }: Town, { findings }: Books): void {
  for (const { line, reference, kinds } of findings.filter(({ kinds }) => kinds.length > 0)) {
    const told = inspector
      .rows<{ kind: string }>('select kind from discrepancies where reference = ?', reference)
      .map(({ kind }) => kind);
    if (!told.some((kind) => kinds.includes(kind)))
      world.violate(
        'P35: what differs is told',
        `${line}: told is ${told.join(', ') || 'nothing'}`,
        reference,
      );
  }
}
