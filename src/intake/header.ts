import { parse } from 'csv-parse/sync';
import {
  columnKey,
  type KnownColumn,
  knownColumn,
  knownColumns,
  type RowRules,
  requiredColumns,
} from '../domain/batch-rules.ts';
import type { Problem } from '../domain/problem.ts';

export type Header = {
  delimiter: ',' | ';' | '\t';
  /** Header cells as they came, without empty ones at the end. */
  columns: string[];
  /** Where each known column stands. */
  at: Partial<Record<KnownColumn, number>>;
};

const delimiters = [',', ';', '\t'] as const;

/** The first line (line ends inside quotes belong to it), or null when it does not end within `text`. */
export function headerLine(text: string, isWhole: boolean): string | null {
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') quoted = !quoted;
    if (!quoted && (text[i] === '\n' || text[i] === '\r')) return text.slice(0, i);
  }
  return isWhole ? text : null;
}

/** Finds the delimiter by which the most columns are known, and every problem of the header at once. */
export function readHeader(line: string, rules: RowRules): { header: Header | null; problems: Problem[] } {
  const readings = delimiters.map((delimiter) => ({ delimiter, cells: split(line, delimiter) }));
  const known = (cells: string[]): number => cells.filter((cell) => knownColumn(cell.trim()) !== null).length;
  const best = readings.reduce((a, b) =>
    known(b.cells) * 1000 + b.cells.length > known(a.cells) * 1000 + a.cells.length ? b : a,
  );
  const columns = withoutEmptyTail(best.cells);
  const problem = (column: string, text: string, fix: string): Problem => ({
    row: 1,
    column,
    value: '',
    problem: text,
    fix,
  });
  if (known(columns) === 0) {
    const fix = `begin the file with ${knownColumns.slice(0, 7).join(',')}`;
    return {
      header: null,
      problems: [problem('', 'the first line is no header: it names none of the columns', fix)],
    };
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
    const column = knownColumn(name);
    if (column && first === undefined) at[column] = i;
  });
  for (const column of requiredColumns(rules)) {
    if (at[column] === undefined) problems.push(problem(column, 'missing', missingFix(column)));
  }
  return { header: { delimiter: best.delimiter, columns, at }, problems };
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
