import { exceptionLines } from '../../core/domain/verdict.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { type Course, courseOf } from '../book.ts';
import type { PlacedRow } from '../run-sheets.sql.ts';
import { type Conflict, openConflicts, statedCurrencies } from '../stated-conflicts.sql.ts';
import { foreignFacts, type PayoutFacts, payoutFacts } from '../statement-facts.sql.ts';
import type { About, StatementEntry } from './entry.ts';
import {
  type CurrencyVerdict,
  createStatement,
  entrySheet,
  linePosition,
  type StatementRow,
} from './statement.ts';
import { linesWithRows, type StatementLine } from './statement-lines.ts';
import { feesOf, foreignEntries, payoutEntries, strangerEntries } from './statement-rows.ts';

/** A payout with everything that it adds to the statement. */
export type Stated = { facts: PayoutFacts; course: Course; entries: StatementEntry[] };

/** Receives the pages as they are computed; a page is a thousand payouts or listed transfers. */
export type Sink = {
  payouts?(page: Stated[]): Promise<void>;
  /** Rows of statement-rows.csv with their place among all of them. */
  rows(rows: PlacedRow[]): Promise<void>;
  /** Listed transfers that this statement counts. */
  transfers?(ids: string[]): Promise<void>;
};

/** The rows of statement.csv, and the verdict on each currency that they bear. */
export type Statement = { rows: StatementRow[]; verdicts: CurrencyVerdict[] };

/**
 * Computes the statement of P30 over the history and the listing that `about` names, page by page. History only grows and
 * the span is of entries, so that no transaction is needed around it.
 */
export async function computeStatement(db: Db | Trx, about: About, sink: Sink): Promise<Statement> {
  const statement = createStatement();
  let foreign = foreignPlaces;
  /** References whose conflict a sum shows. */
  const named = new Set<string>();
  // A month that is closed has counted all there was, and today's list was held against it all the same.
  if (about.span.from > 0n && about.until === null)
    for (const currency of await statedCurrencies(db)) statement.note(currency);

  async function take(entries: PlacedEntry[]): Promise<void> {
    for (const { entry } of entries) {
      statement.add(entry);
      if (conflictLines.has(entry.line)) named.add(entry.reference);
    }
    const rows = entries.filter(({ entry }) => linesWithRows.includes(entry.line)).map(rowOf);
    if (rows.length > 0) await sink.rows(rows);
    const listed = entries.flatMap(({ entry: { line, transferId } }) =>
      line === 'listed_by_service' ? [transferId] : [],
    );
    if (listed.length > 0) await sink.transfers?.(listed);
  }

  for await (const page of payoutFacts(db, about)) {
    const stated = page.map((facts) => {
      const course = courseOf(facts.moves, about.span);
      return { facts, course, entries: payoutEntries(facts, about, course) };
    });
    for (const { facts, course } of stated) {
      const { paid, before } = feesOf(course);
      statement.addFee(facts.payout.currency, paid, 1n);
      statement.addFee(facts.payout.currency, before, -1n);
    }
    await take(
      stated.flatMap(({ facts, entries }) =>
        inPlaces(facts.payout.id * placesOfPayout, [...entries, ...strangerEntries(facts, about)]),
      ),
    );
    await sink.payouts?.(stated);
  }
  for await (const page of foreignFacts(db, about)) {
    const entries = page.flatMap(foreignEntries);
    await take(inPlaces(foreign, entries));
    foreign += BigInt(entries.length);
  }
  for await (const page of openConflicts(db)) {
    const entries = page.filter(({ reference }) => !named.has(reference)).map(conflictEntry);
    await take(inPlaces(foreign, entries));
    foreign += BigInt(entries.length);
  }
  const { rows, rest, verdicts } = statement.conclude(about.listing?.standing ?? null);
  const left = inPlaces(foreign, rest).map(rowOf);
  if (left.length > 0) await sink.rows(left);
  return { rows, verdicts };
}

/** Lines that show a difference: a conflict whose reference is in one of them is not counted once more. */
const conflictLines: ReadonlySet<StatementLine> = new Set<StatementLine>(exceptionLines);

function conflictEntry({ id, kind, reference, batch_id, transfer_id, currency }: Conflict): StatementEntry {
  const why = `${kind} ${id}, not resolved`;
  const named = { reference, batch: batch_id ?? '', transferId: transfer_id ?? '', why };
  return { currency, line: 'open_conflicts', count: 1n, amount: 0n, ...named };
}

/** An entry with its place within its line. A payout has the same places in every run, so that runs share equal rows. */
type PlacedEntry = { entry: StatementEntry; place: bigint };

const placesOfPayout = 10_000n;
/** The places of entries without a payout, behind those of every payout. */
const foreignPlaces = 9_000_000_000_000n;

function inPlaces(from: bigint, entries: readonly StatementEntry[]): PlacedEntry[] {
  return entries.map((entry, index) => ({ entry, place: from + BigInt(index) }));
}

function rowOf({ entry, place }: PlacedEntry): PlacedRow {
  return { position: linePosition(entry, place), cells: entrySheet.cells(entry) };
}
