import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../config.ts';
import type { Ledger } from '../ledger/open.ts';
import { batchesDue, batchPayouts, findBatch, markReported } from '../ledger/reports.ts';
import type { Batch, Payout } from '../ledger/tables.ts';
import { columnKey, writeCsv } from './csv-file.ts';
import { createFailedFile, type RetryOffers } from './failed-file.ts';
import { accountMask, zoned } from './presentation.ts';
import { writeXlsx, xlsxRowLimit } from './xlsx-file.ts';

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
];
const texts = z.array(z.string());

/**
 * Writes results.csv, results.xlsx and failed.csv of batches; the only writer of these files, driven by the batch's
 * version.
 */
export function createBatchResults(deps: {
  ledger: Ledger;
  config: Config;
  reports: string;
  retries: RetryOffers;
}) {
  const { ledger, config, reports } = deps;
  const writeFailed = createFailedFile(deps);
  const style = { bom: config.reports.bom, delimiter: config.reports.delimiter };

  async function* pages(batch: Batch): AsyncGenerator<string[][]> {
    const columns = texts.parse(JSON.parse(batch.columns));
    const mask = accountMask(columns, config.reports.maskAccounts);
    const shown = shownOnce((instant) => zoned(instant, config.reports.timezone));
    yield [[...columns, ...ours]];
    for await (const page of batchPayouts(ledger.db, batch.id)) {
      yield page.map((payout) => [...mask(inputCells(payout, columns.length)), ...outcome(payout, shown)]);
    }
  }

  async function workbook(batch: Batch, path: string): Promise<void> {
    const rows: string[][] = [];
    for await (const page of pages(batch)) rows.push(...page);
    const width = texts.parse(JSON.parse(batch.columns)).length;
    const numbers = (rows[0] ?? []).flatMap((name, index) => {
      const isNumber = index < width ? columnKey(name) === 'amount' : name === 'fee';
      return isNumber ? [index] : [];
    });
    await writeXlsx(path, rows, new Set(numbers));
  }

  /** Writes both files when something changed since, or when forced. Throws when there is no such batch. */
  async function write(batchId: string, options: { force?: boolean } = {}): Promise<BatchResults> {
    const batch = await findBatch(ledger.db, batchId);
    if (!batch) throw new Error(`no such batch: ${batchId}`);
    const unchanged = batch.version === batch.reported_version;
    if (batch.phase === 'loading' || (unchanged && options.force !== true)) {
      return { batch: batchId, files: [], changed: false, skipped: [] };
    }
    const csv = join(reports, batch.id, 'results.csv');
    const xlsx = join(reports, batch.id, 'results.xlsx');
    await writeCsv(csv, pages(batch), style);
    const fits = batch.row_count <= xlsxRowLimit;
    if (fits) await workbook(batch, xlsx);
    const failed = await writeFailed(batch);
    // The version read before the rows were: a change meanwhile leaves the batch due.
    await markReported(ledger.db, batch, batch.version);
    const skipped = fits
      ? []
      : [`${xlsx}: ${batch.row_count} rows are more than a workbook of ${xlsxRowLimit}`];
    const files = [csv, ...(fits ? [xlsx] : []), ...failed.files];
    return { batch: batchId, files, changed: !unchanged, skipped: [...skipped, ...failed.skipped] };
  }

  /** Writes the results of every batch of the mode that changed since; gives the files' paths. */
  async function writeDue(): Promise<string[]> {
    const files: string[] = [];
    for (const batch of await batchesDue(ledger.db, config.mode)) files.push(...(await write(batch)).files);
    return files;
  }

  return { write, writeDue };
}

/** The input cells as they came, exactly as many as the header has: a short row never shifts our columns. */
function inputCells(payout: Payout, width: number): string[] {
  const cells = texts.parse(JSON.parse(payout.cells));
  return Array.from({ length: width }, (_, index) => cells[index] ?? '');
}

const shownKept = 1000;

/** Remembers what the last instants are shown as: payouts that share a commit share their instants. */
function shownOnce(show: (instant: string | null) => string): (instant: string | null) => string {
  const kept = new Map<string | null, string>();
  return (instant) => {
    const known = kept.get(instant);
    if (known !== undefined) return known;
    if (kept.size >= shownKept) kept.clear();
    const text = show(instant);
    kept.set(instant, text);
    return text;
  };
}

function outcome(payout: Payout, shown: (instant: string | null) => string): string[] {
  return [
    payout.state,
    payout.transfer_id ?? '',
    payout.trx ?? '',
    payout.fee ?? '',
    payout.message ?? '',
    shown(payout.submitted_at),
    shown(payout.settled_at),
    payout.evidence,
  ];
}
