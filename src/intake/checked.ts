import { stat } from 'node:fs/promises';
import type { Config } from '../config.ts';
import { generatedReference } from '../domain/ids.ts';
import { type Problem, wholeFile } from '../domain/problem.ts';
import { progressText } from '../domain/progress.ts';
import { type BatchCounts, batchCounts, findByContentHash } from '../ledger/batches.ts';
import { type Likeness, likenessOf } from '../ledger/likeness.ts';
import type { Ledger } from '../ledger/open.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Control, controlProblems } from './control.ts';
import { fileReasons, ledgerLikeness } from './load.ts';
import { capped, type Duplicate, type Scan, type ScanSinks, scanFile, shownTotals } from './scan.ts';

/** What `check` found in one file (contract.md, `check --json`). */
export type Checked = {
  file: string;
  ok: boolean;
  /** Rows in the file, good and bad. */
  rows: number;
  /** Sums of the rows that can be paid. */
  totals: Record<string, string>;
  /** The same by bank code. */
  banks: Record<string, { count: number; totals: Record<string, string> }>;
  warnings: string[];
  /** At most 10,000; `problemCount` counts all. */
  problems: Problem[];
  problemCount: number;
  duplicates: Duplicate[];
  /** Why the batch would be held. */
  holdReasons: string[];
  contentHash: string;
};

type Deps = { ledger: Ledger; config: Config; clock: Clock };

/** Why a path cannot be a batch at all, or null. Symbolic links of a named file are followed. */
export async function unreadable(path: string): Promise<Problem | null> {
  try {
    const found = await stat(path);
    return found.isFile() ? null : wholeFile('this is not a file', 'name a CSV file');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return wholeFile('there is no such file', 'check the path');
    throw error;
  }
}

/**
 * The batch that this content became before, as the one problem of the file (P23). Its rows are not complained about:
 * people who were told to change references would pay twice.
 */
export async function takenBefore(
  scan: Scan,
  { ledger, config }: Deps,
): Promise<{ batch: string; problem: Problem } | null> {
  if (scan.contentHash === '') return null;
  const before = await findByContentHash(ledger.db, config.mode, scan.contentHash);
  if (!before) return null;
  const [now] = await batchCounts(ledger.db, config.mode, [before.id]);
  const problem = `this content was already taken as batch ${before.id} on ${before.created_at.slice(0, 10)}: ${progressText(now?.counts ?? {})}`;
  const fix =
    now?.state === 'cancelled'
      ? 'that batch was cancelled and is never sent. To pay it after all, drop it again with new references'
      : `nothing to do with this file${whatNext(now?.counts ?? {})}. Do not change the references: new ones would pay again`;
  return { batch: before.id, problem: wholeFile(problem, fix) };
}

function whatNext({ ready = 0, held = 0 }: BatchCounts['counts']): string {
  const rest = ready > 0 ? '; counterfoil submit (without the file) sends the rest' : '';
  return held > 0 ? `${rest}; counterfoil status says why some are held` : rest;
}

/** Problems of the file as a whole that show only once it was read: nothing in it, control figures. */
export async function verdicts(
  path: string,
  scan: Scan,
  { config }: Deps,
  told: Control,
): Promise<Problem[]> {
  if (scan.broken) return [];
  if (scan.fileRows === 0) return [wholeFile('the file has a header and no rows', 'add at least one row')];
  // With bad rows the sums are not those of the file; what is refused anyway needs no second complaint.
  if (scan.badRows > 0 && config.intake.onInvalidRow === 'reject_file') return [];
  return controlProblems(path, told, scan.good);
}

/** Whether bad rows of this scan refuse the whole file. */
export function refuses(scan: Scan, config: Config): boolean {
  return (
    scan.broken || scan.good.count === 0 || (scan.badRows > 0 && config.intake.onInvalidRow === 'reject_file')
  );
}

/** Validates one file against the rules and the ledger; records nothing. */
export async function checkFile(deps: Deps, path: string, told: Control = {}): Promise<Checked> {
  const missing = await unreadable(path);
  if (missing) return checkedOf(path, emptyScan(), [missing], [], []);
  const { ledger, config, clock } = deps;
  const found = capped<Likeness>(100_000);
  const sinks: ScanSinks = {
    problem: async () => {},
    badRow: async () => {},
    async good(rows) {
      const wanted = rows.map(({ row, parsed }) => ({ row, ...parsed, reference: parsed.reference ?? '' }));
      for (const one of await likenessOf(ledger.db, config.mode, wanted)) found.add(one);
    },
  };
  const scan = await scanFile(path, deps, sinks);
  const before = await takenBefore(scan, deps);
  if (before) return checkedOf(path, { ...scan, problems: capped(0) }, [before.problem], [], []);
  const extra = await verdicts(path, scan, deps, told);
  const alike = await ledgerLikeness({ clock, config }, async ({ since, recent }) => {
    const first = found.list.filter((one) => one.earlierAt >= since === recent);
    return { count: first.length, first };
  });
  const name = (one: Likeness): Duplicate => ({
    row: one.row,
    reference: one.reference || generatedReference(config.intake.referencePrefix, scan.contentHash, one.row),
    earlier: `${one.earlierReference} in batch ${one.earlierBatch}`,
  });
  const duplicates = [...scan.duplicates.list, ...alike.recent.slice(0, 1000).map(name)];
  const checked = checkedOf(path, scan, extra, [...fileReasons(scan), ...alike.reasons], duplicates);
  return { ...checked, warnings: [...checked.warnings, ...alike.warnings] };
}

/** A scan and what was concluded from it, as the contract shows it. */
function checkedOf(
  file: string,
  scan: Scan,
  extra: Problem[],
  holdReasons: string[],
  duplicates: Duplicate[],
): Checked {
  const problems = [...extra, ...scan.problems.list];
  return {
    file,
    ok: problems.length === 0,
    rows: scan.fileRows,
    totals: shownTotals(scan.good.totals),
    banks: Object.fromEntries(
      [...scan.banks].map(([code, sums]) => [code, { count: sums.count, totals: shownTotals(sums.totals) }]),
    ),
    warnings: warningsOf(scan),
    problems,
    problemCount: extra.length + scan.problems.count,
    duplicates,
    holdReasons,
    contentHash: scan.contentHash,
  };
}

/** The warnings kept, and how many there were beyond. */
export function warningsOf({ warnings }: Scan): string[] {
  const rest = warnings.count - warnings.list.length;
  return rest > 0 ? [...warnings.list, `and ${rest} more warnings`] : warnings.list;
}

function emptyScan(): Scan {
  return {
    header: null,
    fileRows: 0,
    good: { count: 0, totals: new Map() },
    badRows: 0,
    banks: new Map(),
    contentHash: '',
    broken: true,
    problems: capped(0),
    warnings: capped(0),
    duplicates: capped(0),
    overLimit: capped(0),
  };
}
