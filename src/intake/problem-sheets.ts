import { join } from 'node:path';
import { safeCell } from '../domain/csv-cell.ts';
import { harmlessName } from '../domain/file-name.ts';
import { forbiddenPlace } from '../domain/forbidden.ts';
import { type Problem, wholeFile } from '../domain/problem.ts';
import { type CsvFile, csvFile } from './csv-file.ts';
import type { Header } from './header.ts';

type Forbidden = NonNullable<ReturnType<typeof forbiddenPlace>>;

/** Where the folder cannot be written nothing is thrown: what is wrong with the file must be told all the same. */
export type Sheets = {
  problem(problem: Problem): Promise<void>;
  badRow(cells: string[], header: Header): Promise<void>;
  /** Brings what there is to the disk; what keeps it from there, so that nothing is left out that cannot be given back. */
  begin(): Promise<Problem | null>;
  /** Null for a file that is empty or cannot be written. */
  finish(stem: string, withRows: boolean): Promise<{ errorsFile: string | null; invalidFile: string | null }>;
  discard(): Promise<void>;
  /** What could not be written, and why; null when nothing failed. */
  forbidden(): Forbidden | null;
};

/** The two files that tell of problems: all of them as text, and the bad rows as they came, ready to mend. */
export function problemSheets(folder: string, name: string, bom: boolean): Sheets {
  const fileName = harmlessName(name);
  const columns = ['row', 'column', 'value', 'problem', 'fix'];
  const errors = csvFile(folder, `.${fileName}.errors.tmp`, columns, { delimiter: ',', bom });
  let invalid: CsvFile | null = null;
  let finished = false;
  let forbidden: Forbidden | null = null;

  /** Undefined where the folder cannot be written, now or before. */
  async function allowed<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (forbidden) return undefined;
    try {
      return await work();
    } catch (error) {
      forbidden = forbiddenPlace(error);
      if (!forbidden) throw error;
      return undefined;
    }
  }

  return {
    problem: ({ row, column, value, problem, fix }) =>
      allowed(() =>
        errors.write([
          row === 0 ? '' : String(row),
          safeCell(column),
          safeCell(value),
          safeCell(problem),
          safeCell(fix),
        ]),
      ),
    badRow: (cells, header) =>
      allowed(() => {
        const style = { delimiter: header.delimiter, bom };
        invalid ??= csvFile(folder, `.${fileName}.invalid.tmp`, header.columns, style);
        return invalid.write(cells);
      }),
    async begin() {
      await allowed(() => errors.flush());
      await allowed(async () => invalid?.flush());
      if (!forbidden) return null;
      const { place, why } = forbidden;
      const problem = `its rows with problems cannot be given back: ${place} cannot be written (${why})`;
      return wholeFile(problem, 'make the folder writable for this account, then submit the file again');
    },
    async finish(stem, withRows) {
      finished = true;
      const errorsFile = await allowed(() => errors.finish(join(folder, `${stem}.errors.csv`)));
      if (!withRows) await invalid?.discard();
      const rows = withRows ? invalid : null;
      const invalidFile = await allowed(async () => rows?.finish(join(folder, `${stem}.invalid.csv`)));
      return { errorsFile: errorsFile ?? null, invalidFile: invalidFile ?? null };
    },
    async discard() {
      if (finished) return;
      await errors.discard();
      await invalid?.discard();
    },
    forbidden: () => forbidden,
  };
}
