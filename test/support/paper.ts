import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { JsonOf } from '../../src/core/shapes/json-shapes.ts';

/** A row of a report by the names of its columns. */
export type PaperRow = Record<string, string>;
/** One line of statement.csv as it is printed: texts, so that an empty amount is not taken for zero. */
export type PaperLine = { count: string; amount: string };
/** What statement.csv says about a currency: its verdict, which every row must repeat, and its lines by name. */
export type PaperCurrency = { verdict: string; lines: Record<string, PaperLine> };

/** Everything that the files of one run say. */
export type RunPaper = {
  run: string;
  /** statement.csv, by currency. */
  statement: Record<string, PaperCurrency>;
  /** statement-rows.csv, payouts.csv and discrepancies.csv as printed. */
  rows: PaperRow[];
  payouts: PaperRow[];
  discrepancies: PaperRow[];
  summary: JsonOf<'reconcile'>;
  /** report.html: the verdict that it marks for each currency, and all its words without the markup. */
  page: { verdicts: Record<string, string>; words: string; html: string };
};

/** Reads a CSV file by column name, with the delimiter that its header shows. */
function readTable(path: string): PaperRow[] {
  const text = readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  const delimiter = /[,;\t|]/.exec(text.slice(0, text.indexOf('\r\n')))?.[0] ?? ',';
  return parse(text, { columns: true, delimiter, record_delimiter: '\r\n' });
}

/** Reads the files of a run below `reports`; throws where a file is missing or statement.csv contradicts itself. */
export function readRunPaper(reports: string, run: string): RunPaper {
  const folder = join(reports, `reconciliation-${run}`);
  const html = readFileSync(join(folder, 'report.html'), 'utf8');
  return {
    run,
    statement: readStatement(join(folder, 'statement.csv')),
    rows: readTable(join(folder, 'statement-rows.csv')),
    payouts: readTable(join(folder, 'payouts.csv')),
    discrepancies: readTable(join(folder, 'discrepancies.csv')),
    summary: JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')),
    page: { verdicts: markedVerdicts(html), words: wordsOf(html), html },
  };
}

/** Reads a statement.csv; each line once, and one verdict in all rows of a currency. */
function readStatement(path: string): Record<string, PaperCurrency> {
  const found: Record<string, PaperCurrency> = {};
  for (const { currency = '', line = '', count = '', amount = '', verdict = '' } of readTable(path)) {
    const one = found[currency] ?? { verdict, lines: {} };
    found[currency] = one;
    if (one.verdict !== verdict) throw new Error(`${path}: ${currency} is ${one.verdict} and ${verdict}`);
    if (one.lines[line]) throw new Error(`${path}: ${currency} has the line ${line} twice`);
    one.lines[line] = { count, amount };
  }
  return found;
}

/** The rows of a batch's results.csv, by column name; `open_discrepancy` is split into its kinds by {@link kindsOf}. */
export function readResults(reports: string, batch: string): PaperRow[] {
  return readTable(join(reports, batch, 'results.csv'));
}

/** The kinds in a cell of `open_discrepancy`. */
export function kindsOf(cell: string | undefined): string[] {
  return cell ? cell.split('+') : [];
}

/** What index.html says about a run: the verdicts that it marks by currency, and the words of the run's row. */
export function readIndexRow(
  reports: string,
  name: string,
): { verdicts: Record<string, string>; words: string } {
  const html = readFileSync(join(reports, 'index.html'), 'utf8');
  const row = [...html.matchAll(/<tr>.*?<\/tr>/gs)]
    .map(([text]) => text)
    .find((text) => text.includes(`>${name}<`));
  if (row === undefined) throw new Error(`index.html has no row for ${name}`);
  return { verdicts: markedVerdicts(row), words: wordsOf(row) };
}

function markedVerdicts(html: string): Record<string, string> {
  const marks = html.matchAll(/data-currency="([^"]*)" data-verdict="([^"]*)"/g);
  return Object.fromEntries([...marks].map(([, currency = '', verdict = '']) => [currency, verdict]));
}

/** What a reader sees, without style and markup. */
function wordsOf(html: string): string {
  return html
    .replaceAll(/<style>.*?<\/style>/gs, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
