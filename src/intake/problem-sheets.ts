import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { safeCell } from '../core/domain/csv-cell.ts';
import { forbiddenPlace } from '../core/domain/forbidden.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import type { PromisedFile } from '../core/ledger/file-tasks.ts';
import { type CsvFile, csvFile } from './csv-file.ts';
import { harmlessName, sheetEndings } from './file-name.ts';
import type { Header } from './header.ts';

type Forbidden = NonNullable<ReturnType<typeof forbiddenPlace>>;

/**
 * The sheets of a file. They throw nothing where the folder cannot be written: the file's problems must still
 * be reported.
 */
export type Sheets = {
  problem(problem: Problem): Promise<void>;
  badRow(cells: string[], header: Header): Promise<void>;
  /**
   * Syncs both sheets to disk under temporary names, ready to be promised to their places (P34). Where that
   * fails, returns the problem: no row may be left out that cannot be given back.
   */
  complete(
    stem: string,
  ): Promise<{ kind: 'complete'; files: PromisedFile[] } | { kind: 'problem'; problem: Problem }>;
  /** Keeps the sheets from here on: the ledger may have promised them, so `discard` leaves them. */
  keep(): void;
  /** Writes NAME.errors.csv and discards the rows; null for a file that is empty or cannot be written. */
  finish(stem: string): Promise<string | null>;
  discard(): Promise<void>;
  /** The place that could not be written, and why; null when nothing failed. */
  forbidden(): Forbidden | null;
};

/** Removes sheets that a crash left half written. Only under the intake lock, and with no promise open. */
export async function removeHalfSheets(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names)
    if (/^\..*\.(errors|invalid)\.tmp$/.test(name)) await rm(join(folder, name), { force: true });
}

/**
 * Writes the two files about a file's problems: all problems as text, and the bad rows as they came, ready to
 * mend.
 */
export function problemSheets(folder: string, name: string, bom: boolean): Sheets {
  const fileName = harmlessName(name);
  const columns = ['row', 'column', 'value', 'problem', 'fix'];
  const errors = csvFile(folder, `.${fileName}.errors.tmp`, columns, { delimiter: ',', bom });
  let invalid: CsvFile | null = null;
  let isOver = false;
  let forbidden: Forbidden | null = null;

  /** Runs `work`. Undefined where the folder cannot be written, now or earlier. */
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
    async complete(stem) {
      const files: PromisedFile[] = [];
      for (const [kind, sheet] of [
        ['errors', errors],
        ['invalid', invalid],
      ] as const) {
        const source = await allowed(async () => (sheet ? sheet.complete() : null));
        if (source) files.push({ kind, source, target: join(folder, stem + sheetEndings[kind]) });
      }
      if (!forbidden) return { kind: 'complete', files };
      const { place, why } = forbidden;
      const problem = `its rows with problems cannot be given back: ${place} cannot be written (${why})`;
      const fix = 'make the folder writable for this account, then submit the file again';
      return { kind: 'problem', problem: wholeFile(problem, fix) };
    },
    keep() {
      isOver = true;
    },
    async finish(stem) {
      isOver = true;
      const errorsFile = await allowed(() => errors.finish(join(folder, stem + sheetEndings.errors)));
      await invalid?.discard();
      return errorsFile ?? null;
    },
    async discard() {
      if (isOver) return;
      await errors.discard();
      await invalid?.discard();
    },
    forbidden: () => forbidden,
  };
}
