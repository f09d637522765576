import { readFile, stat } from 'node:fs/promises';
import Big from 'big.js';
import type { DiscrepancyDecision } from '../../../books/discrepancies/discrepancy-decisions.sql.ts';
import { type Problem, wholeFile } from '../../../core/domain/problem.ts';
import { Stop } from '../context/result.ts';
import { troubleIn, workbookLimits } from '../discrepancies/workbook-guard.ts';

/** A person's decision in one row of an exported workbook, with the row's exported values. */
export type SheetDecision = {
  row: number;
  id: string;
  verdict: DiscrepancyDecision;
  note: string;
  expected: SheetCell;
  actual: SheetCell;
  state: SheetCell;
};

/** A cell as the library reads it. Anything but text and numbers is given by its type's name. */
export type SheetCell = string | number | null;

export type DecisionSheet = {
  asked: SheetDecision[];
  problems: Problem[];
  /** Rows with a note and no decision: nothing is done about them. */
  undecided: number;
};

const columns = ['discrepancy_id', 'expected', 'actual', 'state', 'decision', 'note'] as const;
type Column = (typeof columns)[number];

const words: Record<string, DiscrepancyDecision> = {
  ack: 'acknowledge',
  acknowledge: 'acknowledge',
  resolve: 'resolve',
};
const longestNote = 2_000;
const exportAgain = 'write a new one with counterfoil discrepancies --export FILE.xlsx';

/** Reads the decisions in a workbook. A file that is not a workbook, or is too large, is one problem. Throws Stop when there is no file. */
export async function readDecisions(path: string): Promise<DecisionSheet> {
  const rows = await readRows(path);
  if (!Array.isArray(rows)) return { asked: [], problems: [rows], undecided: 0 };
  const header = (rows[0] ?? []).map((cell) => `${cell ?? ''}`.trim().toLowerCase());
  const missing = columns.filter((name) => !header.includes(name));
  if (missing.length > 0) {
    const problems = missing.map((column) => {
      return { row: 1, column, value: '', problem: 'the column is missing', fix: exportAgain };
    });
    return { asked: [], problems, undecided: 0 };
  }
  const at = (cells: SheetCell[], name: Column): SheetCell => cells[header.indexOf(name)] ?? null;
  const sheet: DecisionSheet = { asked: [], problems: [], undecided: 0 };
  const seen = new Map<string, number>();
  for (const [index, cells] of rows.slice(1).entries())
    readRow(sheet, seen, index + 2, (name) => at(cells, name));
  return sheet;
}

function readRow(
  sheet: DecisionSheet,
  seen: Map<string, number>,
  row: number,
  at: (name: Column) => SheetCell,
): void {
  const [decision, note, id] = [textOf(at('decision')), textOf(at('note')), textOf(at('discrepancy_id'))];
  if (decision === '') {
    if (note !== '') sheet.undecided += 1;
    return;
  }
  const problem = (column: Column, value: string, what: string, fix: string): void => {
    sheet.problems.push({ row, column, value: value.slice(0, 100), problem: what, fix });
  };
  const verdict = words[decision.toLowerCase()];
  if (!verdict) problem('decision', decision, 'is no decision', 'write ack or resolve, or nothing');
  if (note === '') problem('note', '', 'a decision needs a note', 'write what is known or was done');
  if (note.length > longestNote)
    problem('note', note, `is longer than ${longestNote} characters`, 'write it shorter');
  if (id === '') problem('discrepancy_id', '', 'is empty', exportAgain);
  const before = seen.get(id);
  if (before !== undefined && id !== '')
    problem('discrepancy_id', id, `is decided about in row ${before} too`, 'decide once');
  seen.set(id, row);
  const [expected, actual, state] = [at('expected'), at('actual'), at('state')];
  if (verdict) sheet.asked.push({ row, id, verdict, note, expected, actual, state });
}

async function readRows(path: string): Promise<SheetCell[][] | Problem> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new Stop(`no file ${path}`);
  if (found.size > workbookLimits.bytes)
    return wholeFile(
      `the file has ${found.size} bytes; at most ${workbookLimits.bytes} are read`,
      exportAgain,
    );
  const archive = await readFile(path);
  const trouble = troubleIn(archive);
  if (trouble !== null) return wholeFile(`this cannot be read as a workbook: ${trouble}`, exportAgain);
  try {
    const { readSheet } = await import('read-excel-file/universal');
    const sheet = await readSheet(new Blob([archive]), 1, { trim: false });
    return sheet.map((cells) => cells.map(cellOf));
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return wholeFile(`this cannot be read as a workbook: ${said.slice(0, 200)}`, exportAgain);
  }
}

function cellOf(value: unknown): SheetCell {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  return value instanceof Date ? value.toISOString() : null;
}

function textOf(cell: SheetCell): string {
  return cell === null ? '' : plain(String(cell));
}

/** True when the cell still says `text`: a spreadsheet may have made a number of it, or dropped what XML cannot hold. */
export function says(cell: SheetCell, text: string): boolean {
  if (typeof cell === 'number' && /^-?\d{1,40}(\.\d{1,40})?$/.test(text)) return new Big(text).eq(cell);
  return textOf(cell) === plain(text);
}

/** The text without control characters, and without the quote that stops a spreadsheet from running a cell. */
function plain(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\ufffd\ufffe\uffff]/gu, '')
    .trim()
    .replace(/^'/, '')
    .slice(0, 30_000);
}
