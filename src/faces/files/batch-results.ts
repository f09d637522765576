import { join } from 'node:path';
import {
  batchesDue,
  batchOutcomes,
  findBatch,
  markReported,
  type PayoutOutcome,
  withCells,
} from '../../books/batch-results.sql.ts';
import {
  batchColumnRows,
  type ColumnTally,
  createColumnTally,
  furtherColumns,
} from '../../books/column-totals.ts';
import { type OpenOf, openDiscrepanciesOf } from '../../books/discrepancies/open-of-payouts.sql.ts';
import { accountMask, maskTold, zoned } from '../../books/presentation.ts';
import { storedCells } from '../../books/sheet.ts';
import { kindRules } from '../../core/domain/discrepancy-kinds.ts';
import { forbiddenPlace } from '../../core/domain/forbidden.ts';
import { comparisonOf } from '../../core/ledger/payee-comparisons.ts';
import { replacementsOf } from '../../core/ledger/replaced.ts';
import type { Config } from '../../core/settings/settings.ts';
import { ArchiveAbsent, openArchive } from '../../core/storage/archive-file.ts';
import { writeWhole } from '../../core/storage/atomic-file.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import type { Batch } from '../../core/storage/tables/tables.ts';
import { hiddenBy, shownComparison } from '../../sending/payee-facts.ts';
import { noColumnTotals } from '../../words/column-words.ts';
import { messageText, plainCause } from '../../words/plain-words.ts';
import { csvText, writeCsv } from './csv-writer.ts';
import { createFailedFile, type RetryOffers } from './failed-file.ts';
import { type BatchTally, batchSummary, createBatchTally } from './workbook/batch-summary.ts';
import { ownColumns, resultColumns } from './workbook/columns.ts';
import { comparedNotes, comparedSheet, comparedWidths } from './workbook/compared-sheet.ts';
import { columnSheet, summarySheet } from './workbook/report-workbook.ts';
import { beginWorkbook, fitsWorkbook, type WorkbookWriter, xlsxColumnLimit } from './workbook/xlsx-file.ts';

/** `skipped` says in words which file was not written and why. */
export type BatchResults = { batch: string; files: string[]; changed: boolean; skipped: string[] };

const ours = [
  'payout_state',
  'transfer_id',
  'trx',
  'fee',
  'message',
  'submitted_at',
  'settled_at',
  'evidence',
  'open_discrepancy',
  'paid_again_as',
];

/** The only writer of results.csv, results.xlsx and failed.csv: writes a batch's whenever its version changed. */
export function createBatchResults(deps: {
  ledger: Ledger;
  config: Config;
  reports: string;
  retries: RetryOffers;
}) {
  const { ledger, config, reports } = deps;
  const writeFailed = createFailedFile(deps);
  const { banks } = config;
  const { uniqueColumns } = config.intake;
  const added = [...ours, ...(banks ? ['bank_name'] : [])];
  const style = { bom: config.reports.bom, delimiter: config.reports.delimiter, exact: true };

  type Tallies = { states: BatchTally; columns: ColumnTally };

  async function* pages(batch: Batch, tallies?: Tallies): AsyncGenerator<string[][]> {
    const columns = storedCells(batch.columns);
    const addToColumns = tallies?.columns.of(columns);
    const mask = accountMask(columns, config.reports.maskAccounts);
    const shown = (instant: string | null): string => zoned(instant, config.reports.timezone);
    // The text of a contradiction may contain the account number.
    const told = config.reports.maskAccounts ? maskTold : (text: string): string => text;
    yield [[...columns, ...added]];
    for await (const page of outcomesOf(batch)) {
      const ids = page.map(({ id }) => id);
      const open = await openDiscrepanciesOf(ledger.db, ids);
      const again = await replacementsOf(ledger.db, ids);
      yield page.map((payout) => {
        const cells = storedCells(payout.cells);
        tallies?.states.add(payout, again.get(payout.id)?.counted ?? payout.state, open.has(payout.id));
        const { currency, amount, added, state } = payout;
        addToColumns?.(cells, { currency, amount, isRow: BigInt(added) === 0n, isPaid: state === 'success' });
        return [
          ...mask(fittedTo(cells, columns.length)),
          ...outcome(payout, open.get(payout.id) ?? [], { shown, told }),
          again.get(payout.id)?.reference ?? '',
          ...(banks ? [banks.nameOf(payout.bank_code) ?? ''] : []),
        ];
      });
    }
  }

  /** The outcomes of a batch as of now; the file's cells of an archived one come from its archive. */
  async function* outcomesOf(batch: Batch): AsyncGenerator<PayoutOutcome[]> {
    if (batch.archive_id === null) return yield* batchOutcomes(ledger.db, batch.id);
    const archive = await openArchive(ledger, batch.archive_id);
    try {
      for await (const page of batchOutcomes(ledger.db, batch.id)) yield await withCells(archive.db, page);
    } finally {
      await archive.close();
    }
  }

  /** Writes both files from one reading of the payouts, so that both show the same moment. */
  async function writeBoth(batch: Batch, csv: string, xlsx: string): Promise<void> {
    const { width, fitted } = sheetOf(storedCells(batch.columns).length, added.length);
    await writeWhole(csv, (toCsv) =>
      writeWhole(xlsx, async (toXlsx) => {
        const text = csvText(style);
        const hasTotals = furtherColumns(storedCells(batch.columns), uniqueColumns).length > 0;
        const found = await comparisonOf(ledger.db, batch.id);
        const names = [
          summarySheet,
          'results',
          ...(hasTotals ? [columnSheet] : []),
          ...(found ? [comparedSheet] : []),
        ];
        const workbook = await beginWorkbook(toXlsx, names);
        const tallies = { states: createBatchTally(), columns: createColumnTally(uniqueColumns) };
        const sheet = await workbook.table('results', (header) => resultColumns(header, width));
        for await (const page of pages(batch, tallies)) {
          await toCsv(text(page));
          await sheet.add(page.map((row) => fitted(row)));
        }
        await sheet.end();
        await workbook.notes(summarySheet, batchSummary(batch, tallies.states, config.reports.timezone));
        if (hasTotals) await writeColumns(workbook, batch.id, tallies.columns);
        if (found) {
          const compared = shownComparison(found, hiddenBy(config.reports));
          await workbook.notes(comparedSheet, comparedNotes(compared), comparedWidths);
        }
        await workbook.end();
      }),
    );
  }

  /** Writes both files when something changed since, or when forced. Throws when there is no such batch. */
  async function write(batchId: string, options: { force?: boolean } = {}): Promise<BatchResults> {
    const batch = await findBatch(ledger.db, batchId);
    if (!batch) throw new Error(`no such batch: ${batchId}`);
    const unchanged = batch.version === batch.reported_version;
    if (batch.phase === 'loading' || (unchanged && options.force !== true))
      return { batch: batchId, files: [], changed: false, skipped: [] };
    const csv = join(reports, batch.id, 'results.csv');
    const xlsx = join(reports, batch.id, 'results.xlsx');
    const width = storedCells(batch.columns).length;
    const fits = fitsWorkbook(batch.row_count, width + added.length);
    if (fits) await writeBoth(batch, csv, xlsx);
    else await writeCsv(csv, pages(batch), style);
    const failed = await writeFailed(batch);
    // This version was read before the rows: a change in between leaves the batch due.
    await markReported(ledger.db, batch, batch.version);
    const { left } = sheetOf(width, added.length);
    const skipped = !fits
      ? [`${xlsx}: ${batch.row_count} rows of ${width} columns are more than a workbook: they are in ${csv}`]
      : left > 0
        ? [`${xlsx}: ${left} of ${width} columns of the file are more than a workbook: they are in ${csv}`]
        : [];
    const files = [csv, ...(fits ? [xlsx] : []), ...failed.files];
    return { batch: batchId, files, changed: !unchanged, skipped: [...skipped, ...failed.skipped] };
  }

  let under: Promise<unknown> = Promise.resolve();

  /**
   * Writes the results of every changed batch and returns the files' paths. Two calls in one process run one after the
   * other, so that the second sees the first one's files. If a batch's folder cannot be written, or its archive is not there, the other batches are
   * written first; then the first such failure is thrown.
   */
  async function writeDue(): Promise<string[]> {
    const mine = under.then(async () => {
      const files: string[] = [];
      const failures: unknown[] = [];
      for (const batch of await batchesDue(ledger.db)) {
        try {
          files.push(...(await write(batch)).files);
        } catch (error) {
          if (!forbiddenPlace(error) && !(error instanceof ArchiveAbsent)) throw error;
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
      return files;
    });
    under = mine.catch(() => undefined);
    return mine;
  }

  return { write, writeDue };
}

/** The totals by each further column of the file, or why there are none. */
async function writeColumns(workbook: WorkbookWriter, batch: string, tally: ColumnTally): Promise<void> {
  const columns = tally.columns();
  const table = await workbook.table(columnSheet, (header) => ownColumns(header, false));
  await table.add(columns.length > 0 ? batchColumnRows(batch, columns) : [['note'], [noColumnTotals]]);
  await table.end();
}

/**
 * Fits a row of results.csv into a workbook; `width` is the number of the file's cells before ours,
 * `added` that of ours. In a row that is too
 * wide, one column replaces the file's last cells and names the file that has them.
 */
function sheetOf(
  width: number,
  added: number,
): { width: number; left: number; fitted: (row: string[]) => string[] } {
  const room = xlsxColumnLimit - added;
  if (width <= room) return { width, left: 0, fitted: (row) => row };
  const kept = room - 1;
  const left = width - kept;
  let isHeader = true;
  return {
    width: kept,
    left,
    fitted(row) {
      const note = isHeader ? `${left} more columns: see results.csv` : '';
      isHeader = false;
      return [...row.slice(0, kept), note, ...row.slice(width)];
    },
  };
}

/** The input cells as they came, exactly as many as the header has: a short row never shifts our columns. */
function fittedTo(cells: readonly string[], width: number): string[] {
  return Array.from({ length: width }, (_, index) => cells[index] ?? '');
}

type Words = { shown: (instant: string | null) => string; told: (text: string) => string };

function outcome(payout: PayoutOutcome, open: readonly OpenOf[], { shown, told }: Words): string[] {
  return [
    payout.state,
    payout.transfer_id ?? '',
    payout.trx ?? '',
    payout.fee ?? '',
    messageOf(payout, open, told),
    shown(payout.submitted_at),
    shown(payout.settled_at),
    payout.evidence,
    [...new Set(open.map(({ kind }) => kind))].join('+'),
  ];
}

/** The service's last message, in plain words. A discrepancy that contradicts the state replaces it, since the message is older. */
function messageOf(payout: PayoutOutcome, open: readonly OpenOf[], told: Words['told']): string {
  const against = open.filter(({ kind }) => kindRules[kind].againstState);
  if (against.length === 0) return plainCause(messageText(payout));
  return against
    .map(
      ({ kind, expected, actual }) =>
        `${kind.replaceAll('_', ' ')}: expected ${told(expected)}, found ${told(actual)}`,
    )
    .join('; ');
}
