import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { decimalToMinor, exponentOf, formatMinor } from '../core/domain/money.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import type { Sums } from './scan.ts';
import { unreadableCode } from './unreadable.ts';

/** More than the totals of every currency need. */
const mostBytes = 65_536;

/** The control figures: what the sender says the file holds. */
export type Control = { rows?: number | undefined; totals?: Record<string, string> | undefined };

/**
 * Compares a file's sums with NAME.csv.control.json beside it and with the figures given with the order. Both
 * must agree.
 */
export async function controlProblems(path: string, own: Control, sums: Sums): Promise<Problem[]> {
  const beside = await readControl(`${path}.control.json`);
  if (beside.kind === 'problem') return [beside.problem];
  return [
    ...differences(beside.control, sums, 'the control file says'),
    ...differences(own, sums, 'the figures given say'),
  ];
}

function differences(control: Control, sums: Sums, says: string): Problem[] {
  const fix = 'find out which is right; mend the file or the control figures';
  const problems: Problem[] = [];
  if (control.rows !== undefined && control.rows !== sums.count) {
    problems.push(
      wholeFile(`${says} ${control.rows} rows, the file has ${sums.count} that can be paid`, fix),
    );
  }
  if (!control.totals) return problems;
  for (const currency of new Set([...Object.keys(control.totals), ...sums.totals.keys()])) {
    const claimed = control.totals[currency];
    const sum = sums.totals.get(currency) ?? 0n;
    if (claimed !== undefined && decimalToMinor(claimed, currency) === sum) continue;
    const held = exponentOf(currency) === undefined ? 'none' : formatMinor(sum, currency);
    problems.push(wholeFile(`${says} ${currency} ${claimed ?? 'nothing'}, the file holds ${held}`, fix));
  }
  return problems;
}

type ReadControl = { kind: 'control'; control: Control } | { kind: 'problem'; problem: Problem };

/** Whether readable control figures lie beside the file. */
export async function hasControl(path: string): Promise<boolean> {
  const text = await smallText(`${path}.control.json`);
  return text !== null && text !== '' && parseControl(text) !== null;
}

async function readControl(path: string): Promise<ReadControl> {
  const text = await smallText(path);
  if (text === '') return { kind: 'control', control: {} };
  const control = text === null ? null : parseControl(text);
  if (control) return { kind: 'control', control };
  const fix = 'write {"rows": 120, "totals": {"NGN": "1200000.00"}}, either key may be left out';
  return { kind: 'problem', problem: wholeFile('the control file is not of the expected form', fix) };
}

/**
 * Reads a small file. Returns '' where there is none, and null for a pipe, a folder or a file that is too
 * large.
 */
async function smallText(path: string): Promise<string | null> {
  try {
    // Opening a pipe would block for ever.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      const isSmall = stats.isFile() && stats.size > 0 && stats.size <= mostBytes;
      return isSmall ? await file.readFile('utf8') : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    if (unreadableCode(error)) return null;
    throw error;
  }
}

/** Returns null where any key is unexpected: a figure that the sender wants compared must not be ignored. */
function parseControl(text: string): Control | null {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const control: Control = {};
  for (const [key, part] of Object.entries(value)) {
    if (key === 'rows' && typeof part === 'number' && Number.isInteger(part)) control.rows = part;
    else if (key === 'totals' && typeof part === 'object' && part !== null && !Array.isArray(part)) {
      control.totals = {};
      for (const [currency, total] of Object.entries(part)) {
        if (typeof total !== 'string' || exponentOf(currency) === undefined) return null;
        control.totals[currency] = total;
      }
    } else return null;
  }
  return control;
}
