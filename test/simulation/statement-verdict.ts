import { accountIn } from '../../src/app/looking.ts';
import { findRun } from '../../src/books/batch-results.sql.ts';
import { lastPeriod, listingOf } from '../../src/books/periods.sql.ts';
import { computeStatement } from '../../src/books/statement/compute-statement.ts';
import type { About } from '../../src/books/statement/entry.ts';
import { causeLines } from '../../src/books/statement/statement-lines.ts';
import { decimalToMinor } from '../../src/core/domain/money.ts';
import { restsOnPerson } from '../../src/core/domain/transition.ts';
import { newestHistory } from '../../src/core/ledger/history.ts';
import { foreignOrigins } from '../../src/core/ledger/origins.ts';
import type { Db } from '../../src/core/storage/ledger.ts';
import { openSnapshot } from '../../src/custody/snapshot.ts';
import { newestCompleteRun } from '../../src/watching/listing/listings.sql.ts';
import { frozenWords } from '../../src/words/frozen-words.ts';
import type { Entry } from './book.ts';
import { type Inspector, readWhole } from './inspector.ts';
import type { Town } from './town.ts';

type Row = {
  currency: string;
  line: string;
  reference: string;
  transferId: string;
  amount: bigint;
  why: string;
};
type Books = { sums: Map<string, bigint>; currencies: string[]; rows: Row[] };
type Final = { reference: string; state: string; submitted_at: string | null; evidence: string };

/**
 * P30 as the oracle sees it: the product's statement over the whole day ties, in one and cut in two at any entry, and
 * what it calls foreign, unseen or unexplained is what the service's own book has, no more and no less.
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
    const whole = await booksOf(db, about);
    judgeTie(town, whole, 'the whole day');
    // Against a list that shows none of ours, or is not complete, nothing is compared, and the run says so (P35).
    const isComparable = !isOthersList(town.inspector) && town.service.listFlaw() === null;
    if (isComparable) judgeCauses(town, whole);
    const middle = BigInt(town.world.random.fork('statement').between(Number(from), Number(known)));
    const first = await booksOf(db, { ...about, span: { from, through: middle } });
    const second = await booksOf(db, { ...about, span: { from: middle, through: known } });
    judgeTie(town, first, `up to entry ${middle}`);
    judgeTie(town, second, `from entry ${middle}`);
    judgeTurn(town, first, second, whole);
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

async function booksOf(db: Db, about: About): Promise<Books> {
  const rows: Row[] = [];
  const { rows: statement } = await computeStatement(db, about, {
    async rows(placed) {
      for (const { cells } of placed) {
        const [currency = '', line = '', reference = '', , transferId = '', amount = '', why = ''] = cells;
        rows.push({ currency, line, reference, transferId, amount: minor(amount, currency), why });
      }
    },
  });
  const sums = new Map<string, bigint>();
  for (const { currency, line, amount } of statement)
    if (line !== 'fees') sums.set(`${currency} ${line}`, minor(amount, currency));
  return { sums, rows, currencies: [...new Set(statement.map(({ currency }) => currency))] };
}

const minor = (amount: string, currency: string): bigint => decimalToMinor(amount, currency) ?? 0n;

function judgeTie(town: Town, { sums, rows, currencies }: Books, told: string): void {
  for (const currency of currencies) {
    const of = (line: string): bigint => sums.get(`${currency} ${line}`) ?? 0n;
    const fail = (detail: string): void =>
      town.world.violate('P30: the statement ties', `${told}, ${currency}: ${detail}`);
    const ended = of('settled') + of('failed') + of('refused');
    const closing = of('opening') + of('submitted') + of('reopened') - ended;
    if (closing !== of('closing')) fail(`closing is ${of('closing')}, the flows say ${closing}`);
    if (of('in_flight') + of('unknown') !== closing) fail('what is open is not its closing');
    const ours = of('submitted') - of('failed') - of('refused') - of('unseen');
    const theirs = causeLines.reduce((sum, line) => sum + of(line), 0n);
    if (of('listed_by_service') !== ours + theirs) fail('it does not come to what the service lists');
    for (const line of new Set(rows.map((row) => row.line))) {
      const own = rows.filter((row) => row.line === line && row.currency === currency);
      const sum = own.reduce((total, { amount }) => total + amount, 0n);
      if (sum !== of(line)) fail(`${line} is ${of(line)}, its rows ${sum}`);
    }
  }
  const odd = rows.find(({ why }) => why.startsWith('no recorded cause'));
  if (odd) town.world.violate('P30: every rest has a cause', `${told}: ${odd.amount} ${odd.currency}`);
}

/** The second part opens where the first closed, and both together are the whole. */
function judgeTurn(town: Town, first: Books, second: Books, whole: Books): void {
  for (const currency of whole.currencies) {
    const of = (books: Books, line: string): bigint => books.sums.get(`${currency} ${line}`) ?? 0n;
    if (of(second, 'opening') !== of(first, 'closing'))
      town.world.violate('P30: a period opens where the last one closed', currency);
    for (const line of ['submitted', 'reopened', 'settled', 'failed', 'refused', 'returned'])
      if (of(first, line) + of(second, line) !== of(whole, line))
        town.world.violate('P30: the periods make the whole', `${line} in ${currency}`);
  }
}

const judged = [
  'foreign',
  'unseen',
  'duplicates',
  'status_conflicts',
  'collisions',
  'returns',
  'paid_elsewhere',
  'unexplained',
];

/** Exactly the money that the book has beyond the ledger's is foreign or has a name, and none that it has is unseen. */
function judgeCauses(town: Town, { rows }: Books): void {
  const { book } = town.service;
  const payouts = town.inspector.rows<Final>(
    'select reference, state, submitted_at, evidence from payouts order by id',
  );
  const ours = new Set(payouts.map(({ reference }) => reference));
  const atHome = ({ account }: Entry): boolean => account === 'home';
  const alive = ({ record }: Entry): boolean => record.status !== 'failed';
  const expected = new Map<string, number>();
  const note = (line: string, reference: string, times: number): void => {
    if (times > 0) expected.set(`${line} ${reference}`, (expected.get(`${line} ${reference}`) ?? 0) + times);
  };
  for (const entry of book.all().filter(atHome))
    if (!ours.has(entry.record.reference) && alive(entry)) note('foreign', entry.record.reference, 1);
  for (const { reference, state, submitted_at: sentAt, evidence } of payouts) {
    const entries = book.entries(reference).filter(atHome);
    const standing = entries.filter(alive);
    const open = ['sending', 'pending', 'unknown'].includes(state) || waits(town, reference);
    if (open || state === 'success' || state === 'returned') {
      note('duplicates', reference, standing.length - 1);
      // What only a person calls paid, and nobody here ever sent, no list can show.
      const isElsewhere = state === 'success' && sentAt === null && restsOnPerson(evidence);
      if (entries.length === 0) note(isElsewhere ? 'paid_elsewhere' : 'unseen', reference, 1);
      else if (standing.length === 0 && !open)
        note(state === 'returned' ? 'returns' : 'status_conflicts', reference, 1);
    } else {
      const isNeverSent = ['held', 'ready', 'cancelled'].includes(state);
      const shown = standing.filter(({ record }) => isNeverSent || record.status !== 'pending').length;
      note(isNeverSent ? 'collisions' : 'status_conflicts', reference, shown);
    }
  }
  const shown = new Map<string, number>();
  for (const { line, reference } of rows)
    if (judged.includes(line))
      shown.set(`${line} ${reference}`, (shown.get(`${line} ${reference}`) ?? 0) + 1);
  for (const key of new Set([...expected.keys(), ...shown.keys()])) {
    const [line = '', reference = ''] = key.split(' ');
    if (expected.get(key) === shown.get(key)) continue;
    const detail = `${line}: the book has ${expected.get(key) ?? 0}, the statement ${shown.get(key) ?? 0}`;
    town.world.violate('P30: the statement’s causes are those of the book', detail, reference);
  }
}

/** Ordered once more and not sent yet: the books have it as unknown. */
function waits(town: Town, reference: string): boolean {
  const [row] = town.inspector.rows<{ event: string }>(
    `select h.event from history h join payouts p on p.id = h.payout_id
      where p.reference = ? and p.state in ('ready', 'held') and h.event in ('retry', 'intent') order by h.seq desc limit 1`,
    reference,
  );
  return row?.event === 'retry';
}
