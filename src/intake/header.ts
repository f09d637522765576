import {
  columnKey,
  type KnownColumn,
  knownColumn,
  type RowRules,
  requiredColumns,
} from '../core/domain/batch-rules.ts';
import { meantColumn, misnamedColumn } from '../core/domain/column-names.ts';
import { type FormatName, formats } from '../core/domain/file-formats.ts';
import { hiddenCharacter, hiddenFinding } from '../core/domain/hidden.ts';
import type { Problem } from '../core/domain/problem.ts';

export type Header = {
  format: FormatName;
  /** Separates the columns. Where the format has no delimiters: those of the rows that are given back. */
  delimiter: ',' | ';' | '\t';
  /** Header cells as in the file, without empty ones at the end. */
  columns: string[];
  /** The index of each known column. */
  at: Partial<Record<KnownColumn, number>>;
};

/** The delimiters in words, for messages. */
export const delimiterNames: Record<Header['delimiter'], string> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
};

/** The name of a file's delimiter; null where its format has none, or no header was recognised. */
export function delimiterOf(header: Header | null): string | null {
  return header && formats[header.format].isText ? delimiterNames[header.delimiter] : null;
}

/** More than any payroll has. Each row of a wider file would cost the memory of many. */
const mostColumns = 1000;

/**
 * The columns that a kind of file must have, and how to mend a header that lacks one. `misnamed`: the column that it may
 * have, and that a name nearly is.
 */
export type RequiredColumns = {
  required: readonly KnownColumn[];
  missingFix(column: KnownColumn): string;
  misnamed?(name: string): KnownColumn | null;
};

/** Returns the columns of a payout batch under these rules. */
export function requiredBatchColumns(rules: RowRules): RequiredColumns {
  return { required: requiredColumns(rules), missingFix, misnamed: misnamedColumn };
}

/** What is known of a header: it is null where nothing more can be read. */
export type ReadHeader = { header: Header | null; problems: Problem[] };

/**
 * Finds the columns in the cells of the first row, and reports every problem of the header. `below`: finds a row that
 * looks like the header behind the first one, where that is a title; its place there, else -1.
 */
export function readHeader(
  { cells, ...first }: Pick<Header, 'format' | 'delimiter'> & { cells: string[] },
  wanted: RequiredColumns,
  below: () => number,
): ReadHeader {
  const columns = withoutEmptyTail(cells);
  if (knownIn(columns) <= 1 && nearIn(columns) < fewestOfHeader) {
    const at = below();
    if (at !== -1) return { header: null, problems: [titleAbove(at + 2, columns.length > 0)] };
  }
  if (knownIn(columns) === 0 && nearIn(columns) < fewestOfHeader)
    return headerless('the first line is no header: it names none of the columns', beginWith(wanted));
  if (cells.length > mostColumns) {
    const text = `has ${cells.length} columns; at most ${mostColumns} are allowed`;
    return headerless(text, 'remove the columns that nobody needs');
  }
  const problems: Problem[] = [];
  const at: Header['at'] = {};
  const seen = new Map<string, number>();
  columns.forEach((cell, i) => {
    const name = cell.trim();
    const first = seen.get(columnKey(name));
    if (name === '') problems.push(problem('', `cell ${i + 1} has no name`, 'name the column or remove it'));
    else if (first !== undefined)
      problems.push(problem(name, `named twice, in cells ${first + 1} and ${i + 1}`, 'remove or rename one'));
    else seen.set(columnKey(name), i);
    const hidden = hiddenCharacter(name, 'header');
    if (hidden) problems.push(problem(name, hiddenFinding(hidden).problem, 'delete it: type the name again'));
    const misnamed = wanted.misnamed?.(name) ?? null;
    if (misnamed !== null) problems.push(nearlyNamed(name, misnamed));
    const column = knownColumn(name);
    if (column && first === undefined) at[column] = i;
  });
  for (const column of wanted.required) {
    if (at[column] !== undefined) continue;
    const other = columns.find((cell) => meantColumn(cell.trim()) === column)?.trim();
    problems.push(
      other === undefined
        ? problem(column, 'missing', wanted.missingFix(column))
        : { ...problem(column, 'missing: this column may be meant', `rename it to ${column}`), value: other },
    );
  }
  return { header: { ...first, columns, at }, problems };
}

function problem(column: string, text: string, fix: string): Problem {
  return { row: 1, column, value: '', problem: text, fix };
}

/** The header that one problem makes unreadable. */
export function headerless(text: string, fix: string, column = ''): ReadHeader & { header: null } {
  return { header: null, problems: [problem(column, text, fix)] };
}

export function beginWith({ required }: RequiredColumns): string {
  return `begin the file with ${required.join(',')}`;
}

/** How many cells are names of our columns, and how many are nearly one. */
export function knownIn(cells: readonly string[]): number {
  return cells.filter((cell) => knownColumn(cell.trim()) !== null).length;
}

export function nearIn(cells: readonly string[]): number {
  return cells.filter((cell) => meantColumn(cell.trim()) !== null).length;
}

function nearlyNamed(value: string, column: KnownColumn): Problem {
  const problem = `is nearly ${column}, and would only be kept: nothing is done with a column of that name`;
  return { row: 1, column, value, problem, fix: `rename it to ${column}, or give it quite another name` };
}

/** So many names of columns, ours or near ones, make a row a header. */
const fewestOfHeader = 3;

export function looksLikeHeader(cells: readonly string[]): boolean {
  const isName = (cell: string): boolean => knownColumn(cell) !== null || meantColumn(cell) !== null;
  return cells.filter((cell) => isName(cell.trim())).length >= fewestOfHeader;
}

function titleAbove(row: number, isText: boolean): Problem {
  const above = !isText ? 'an empty line' : row === 2 ? 'a title' : 'a title or other lines';
  const problem = `${above} above the header, which is in row ${row}`;
  const fix = row === 2 ? 'delete row 1' : `delete rows 1 to ${row - 1}`;
  return { row: 1, column: '', value: '', problem, fix };
}

function missingFix(column: KnownColumn): string {
  if (column === 'reference') return 'add the column, or set intake.reference_prefix to have references made';
  if (column === 'sender_name') return 'add the column, or set intake.sender_name';
  return `add a column with the header ${column}`;
}

function withoutEmptyTail(cells: string[]): string[] {
  return cells.slice(0, cells.findLastIndex((cell) => cell.trim() !== '') + 1);
}
