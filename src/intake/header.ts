import { parse } from 'csv-parse/sync';
import {
  columnKey,
  type KnownColumn,
  knownColumn,
  type RowRules,
  requiredColumns,
} from '../core/domain/batch-rules.ts';
import { meantColumn, misnamedColumn } from '../core/domain/column-names.ts';
import { hiddenCharacter, hiddenFinding } from '../core/domain/hidden.ts';
import type { Problem } from '../core/domain/problem.ts';

export type Header = {
  delimiter: ',' | ';' | '\t';
  /** Header cells as in the file, without empty ones at the end. */
  columns: string[];
  /** The index of each known column. */
  at: Partial<Record<KnownColumn, number>>;
};

const delimiters = [',', ';', '\t'] as const;
/** More than any payroll has. Each row of a wider file would cost the memory of many. */
const mostColumns = 1000;

/** The delimiters in words, for messages. */
export const delimiterNames: Record<Header['delimiter'], string> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
};

/**
 * Returns the first line, or null when it does not end within `text`. A line end inside quotes belongs to the
 * line.
 */
export function headerLine(text: string, isWhole: boolean): string | null {
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') quoted = !quoted;
    if (!quoted && (text[i] === '\n' || text[i] === '\r')) return text.slice(0, i);
  }
  return isWhole ? text : null;
}

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

/**
 * Picks the delimiter that gives the most known columns, and reports every problem of the header. `below`: the next lines,
 * where the header is if the first line is a title.
 */
export function readHeader(
  line: string,
  wanted: RequiredColumns,
  below: readonly string[] = [],
): { header: Header | null; problems: Problem[] } {
  const readings = delimiters.map((delimiter) => ({ delimiter, cells: split(line, delimiter) }));
  const known = (cells: string[]): number => cells.filter((cell) => knownColumn(cell.trim()) !== null).length;
  const near = (cells: string[]): number => cells.filter((cell) => meantColumn(cell.trim()) !== null).length;
  const weight = (cells: string[]): number => (known(cells) * 1000 + near(cells)) * 1000 + cells.length;
  const best = readings.reduce((a, b) => (weight(b.cells) > weight(a.cells) ? b : a));
  const columns = withoutEmptyTail(best.cells);
  const problem = (column: string, text: string, fix: string): Problem => ({
    row: 1,
    column,
    value: '',
    problem: text,
    fix,
  });
  if (known(columns) <= 1 && known(split(line, '|')) > 1) {
    const fix = 'save it with commas, semicolons or tabs between the columns';
    return { header: null, problems: [problem('', 'the columns are separated by |', fix)] };
  }
  if (!isBlankOrHint(line) && known(columns) <= 1 && near(columns) < fewestOfHeader) {
    const at = below.findIndex((other) => looksLikeHeader(other));
    if (at !== -1) return { header: null, problems: [titleAbove(at + 2, columns.length > 0)] };
  }
  if (known(columns) === 0 && near(columns) < fewestOfHeader) {
    const { text, fix } = noHeader(line, wanted);
    return { header: null, problems: [problem('', text, fix)] };
  }
  if (best.cells.length > mostColumns) {
    const text = `has ${best.cells.length} columns; at most ${mostColumns} are allowed`;
    return { header: null, problems: [problem('', text, 'remove the columns that nobody needs')] };
  }
  const loose = looseQuote(line, best.delimiter);
  if (loose !== null)
    return { header: null, problems: [problem(loose, spaceAtQuote.problem, spaceAtQuote.fix)] };
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
  return { header: { delimiter: best.delimiter, columns, at }, problems };
}

function nearlyNamed(value: string, column: KnownColumn): Problem {
  const problem = `is nearly ${column}, and would only be kept: nothing is done with a column of that name`;
  return { row: 1, column, value, problem, fix: `rename it to ${column}, or give it quite another name` };
}

/** So many names of columns, ours or near ones, make a line a header. */
const fewestOfHeader = 3;

const excelHint = /^"?sep=.?"?$/i;

/** These first lines have a cause of their own. */
function isBlankOrHint(line: string): boolean {
  return line.trim() === '' || excelHint.test(line);
}

function looksLikeHeader(line: string): boolean {
  return delimiters.some((delimiter) => {
    const cells = split(line, delimiter).map((cell) => cell.trim());
    const names = cells.filter((cell) => knownColumn(cell) !== null || meantColumn(cell) !== null);
    return names.length >= fewestOfHeader;
  });
}

function titleAbove(row: number, isText: boolean): Problem {
  const above = !isText ? 'an empty line' : row === 2 ? 'a title' : 'a title or other lines';
  const problem = `${above} above the header, which is in row ${row}`;
  const fix = row === 2 ? 'delete row 1' : `delete rows 1 to ${row - 1}`;
  return { row: 1, column: '', value: '', problem, fix };
}

/** The problem of a space between a quote and the delimiter, in the header and in rows. */
export const spaceAtQuote = {
  problem: 'a space, or another text, stands between a quote and the delimiter',
  fix: 'remove it: a quoted value begins and ends with its quotes, as in ,"Rent",; double each quote that belongs to the text',
};

/** Returns the quoted name that a space separates from its delimiter; null where there is none. */
function looseQuote(line: string, delimiter: string): string | null {
  const cells = line.split(delimiter);
  const loose = cells.find((cell) => /^\s+"[^"]*"\s*$|^\s*"[^"]*"\s+$/.test(cell));
  return loose === undefined ? null : loose.trim().slice(1, -1);
}

function noHeader(line: string, wanted: RequiredColumns): { text: string; fix: string } {
  const start = `begin the file with ${wanted.required.join(',')}`;
  if (line.trim() === '')
    return { text: 'the first line is blank: the header must be there', fix: `remove it; ${start}` };
  if (excelHint.test(line))
    return { text: 'the first line is a hint to Excel, not the header', fix: 'remove that line' };
  return { text: 'the first line is no header: it names none of the columns', fix: start };
}

function missingFix(column: KnownColumn): string {
  if (column === 'reference') return 'add the column, or set intake.reference_prefix to have references made';
  if (column === 'sender_name') return 'add the column, or set intake.sender_name';
  return `add a column with the header ${column}`;
}

function split(line: string, delimiter: string): string[] {
  try {
    const rows: string[][] = parse(line, {
      delimiter,
      relax_quotes: true,
      relax_column_count: true,
      bom: true,
    });
    return rows[0] ?? [];
  } catch {
    return [];
  }
}

function withoutEmptyTail(cells: string[]): string[] {
  return cells.slice(0, cells.findLastIndex((cell) => cell.trim() !== '') + 1);
}
