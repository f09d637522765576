import type { RowRules } from '../core/domain/batch-rules.ts';
import { foldReference } from '../core/domain/ids.ts';
import { formatMinor, isAboveLimit } from '../core/domain/money.ts';
import { dayOf } from '../core/domain/pay-day.ts';
import type { Problem } from '../core/domain/problem.ts';
import { existingReferences } from '../core/ledger/batches.ts';
import type { LargePayout } from '../core/ledger/hold-reasons.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { type NamedAgain, namedAgain } from './again-names.ts';
import type { BadRow, FileItem } from './file-rows.ts';
import type { Header } from './header.ts';
import type { ReadFile } from './read.ts';
import { type PaysAgain, type RetryRows, retryCheck } from './retries.ts';
import { type RowWarning, rowWarnings } from './row-warnings.ts';
import { checkedRows, type GoodRow } from './rows.ts';
import { createValueCheck, type ValueAgain } from './values-again.sql.ts';

/** A list that keeps its first items and counts all. */
export type Capped<T> = { list: T[]; count: number; add(item: T): void };

export function capped<T>(limit: number): Capped<T> {
  const list: T[] = [];
  return {
    list,
    count: 0,
    add(item) {
      this.count++;
      if (list.length < limit) list.push(item);
    },
  };
}

export type Sums = { count: number; totals: Map<string, bigint> };
/** A row that repeats the account, currency and amount of an earlier one of the file. */
export type RepeatedRow = { row: number; reference: string; earlier: number };

/** The result of the first pass over a file. Nothing is recorded. */
export type Scan = {
  /** What the rows were judged by: the second pass uses the same, also after midnight. */
  rules: RowRules;
  header: Header | null;
  /** Rows in the file, good and bad. */
  fileRows: number;
  good: Sums;
  badRows: number;
  banks: Map<string, Sums>;
  /** What is paid on a later day, by day; at most as many days as a date may be ahead. */
  later: Map<string, Sums>;
  contentHash: string;
  /** The file's number of bytes, and their SHA-256. */
  bytes: number;
  bytesHash: string;
  /** The file that was read; null where it could not be opened. */
  file: ReadFile | null;
  /** True where the last row ends with a line end. */
  endsInLine: boolean;
  /** The number of lines that a text editor shows. */
  lines: number;
  /** Whether a problem refuses the file whatever `on_invalid_row` says. */
  broken: boolean;
  problems: Capped<Problem>;
  warnings: Capped<RowWarning>;
  /** Rows that repeat account, currency and amount of an earlier row of the file. */
  duplicates: Capped<RepeatedRow>;
  /** Payouts above `submission.payout_limit`. */
  overLimit: Capped<LargePayout>;
  /** Payouts above a whole day of `submission.daily_limit`. */
  overDay: Capped<LargePayout>;
  /** Rows that pay a failed, refused or returned payout again (P20). */
  retries: PaysAgain[];
  /** Rows with the reference of such a payment and no `retry_of`. */
  namedAgain: Capped<NamedAgain>;
  /** Rows with a value of `intake.unique_columns` that was paid before, or is in an earlier row. */
  valuesAgain: Capped<ValueAgain>;
  /** The bad rows that `skip_row` leaves out; empty with `reject_file`. */
  bad: Set<number>;
};

export type ScanSinks = {
  problem(problem: Problem): Promise<void>;
  badRow(row: BadRow, header: Header): Promise<void>;
  /** Receives rows without a problem, and what some of them pay again, by row. */
  good(rows: GoodRow[], plans: Map<number, PaysAgain>, header: Header): Promise<void>;
};

/** The scan of a file of which nothing was read yet. */
export function newScan(rules: RowRules): Scan {
  return {
    rules,
    header: null,
    fileRows: 0,
    good: { count: 0, totals: new Map() },
    badRows: 0,
    banks: new Map(),
    later: new Map(),
    contentHash: '',
    bytes: 0,
    bytesHash: '',
    file: null,
    endsInLine: true,
    lines: 0,
    broken: false,
    problems: capped(10_000),
    warnings: capped(10_000),
    duplicates: capped(1000),
    overLimit: capped(5),
    overDay: capped(5),
    retries: [],
    namedAgain: capped(1),
    valuesAgain: capped(1000),
    bad: new Set(),
  };
}

/** Adds what the end of the file tells about all of it. */
export function noteEnd(scan: Scan, end: Extract<FileItem<unknown>, { kind: 'end' }>): void {
  const { kind: _, rows: fileRows, ...rest } = end;
  Object.assign(scan, { fileRows, ...rest } satisfies Partial<Scan>);
}

/** The rules of a row that configuration, clock and command add. `payOn`: the day of rows that name none. */
export function rowRules({ config, clock, payOn = '', serviceNow = () => null }: RulesOf): RowRules {
  const { senderName, referencePrefix } = config.intake;
  const today = dayOf(clock.iso(), config.submission.timezone);
  const heard = serviceNow() ?? null;
  const known = {
    ...(config.banks && { banks: config.banks }),
    ...(heard !== null && {
      serviceToday: dayOf(new Date(heard).toISOString(), config.submission.timezone),
    }),
  };
  return { senderName, referencePrefix, today, payOn, ...known };
}
export type RulesOf = {
  config: Config;
  clock: Pick<Clock, 'iso'>;
  payOn?: string | undefined;
  /** The service's clock, in ms; null or undefined where it is not known. */
  serviceNow?: (() => number | null | undefined) | undefined;
};

/**
 * Pass 1: collects every problem of every row, the totals and the content hash. References are looked up in
 * the ledger (P22).
 */
export async function scanFile(
  path: string,
  deps: RulesOf & { ledger: Ledger; retries: RetryRows; signal?: AbortSignal | undefined },
  sinks: ScanSinks,
): Promise<Scan> {
  const scan = newScan(rowRules(deps));
  const say = async (problem: Problem): Promise<void> => {
    scan.problems.add(problem);
    await sinks.problem(problem);
  };
  const count = counter(scan, deps.config);
  const valuesAgain = createValueCheck(deps);
  const withoutBadRetries = retryCheck(deps.retries, deps.ledger.db, deps.signal);
  for await (const item of checkedRows(path, scan.rules, deps.config.intake)) {
    if (item.kind === 'header') scan.header = item.header;
    else if (item.kind === 'broken') {
      scan.broken = true;
      await say(item.problem);
    } else if (item.kind === 'end') {
      noteEnd(scan, item);
    } else if (scan.header) {
      const { plans, excess, ...rest } = await withoutBadRetries(item);
      if (excess) {
        scan.broken = true;
        await say(excess);
      }
      const { good, bad } = await withoutTaken(rest, deps);
      for (const row of bad) {
        scan.badRows++;
        if (deps.config.intake.onInvalidRow === 'skip_row') scan.bad.add(row.row);
        for (const problem of row.problems) await say(problem);
        await sinks.badRow(row, scan.header);
      }
      // Sums mean nothing where, say, the currency column is missing.
      if (!scan.broken) good.forEach(count);
      for (const one of await namedAgain(good, deps)) scan.namedAgain.add(one);
      for (const one of await valuesAgain(good, scan.header.columns, plans)) scan.valuesAgain.add(one);
      if (plans.size > 0) scan.retries.push(...good.flatMap(({ row }) => plans.get(row) ?? []));
      await sinks.good(good, plans, scan.header);
    }
  }
  return scan;
}

const usedBefore = {
  payout: 'a payout',
  fix: 'if it is the same payment, remove the row: a new reference would pay it again. Only another payment gets another reference',
};
const unsentBefore = {
  payout: 'a cancelled payout',
  fix: 'it was never sent: to pay it, give the row a new reference',
};

/** Turns rows whose reference the ledger has into bad rows that name the earlier batch. */
async function withoutTaken(
  chunk: { good: GoodRow[]; bad: BadRow[] },
  { ledger }: { ledger: Ledger },
): Promise<{ good: GoodRow[]; bad: BadRow[] }> {
  const keys = chunk.good.flatMap(({ parsed }) =>
    parsed.reference === null ? [] : [foldReference(parsed.reference)],
  );
  const taken = await existingReferences(ledger.db, keys);
  if (taken.size === 0) return chunk;
  const good: GoodRow[] = [];
  const bad = [...chunk.bad];
  for (const row of chunk.good) {
    const value = row.parsed.reference ?? '';
    const use = taken.get(foldReference(value));
    if (use === undefined) {
      good.push(row);
      continue;
    }
    const isUnsent = use.state === 'cancelled' && use.submitted_at === null;
    const { payout, fix } = isUnsent ? unsentBefore : usedBefore;
    const problem = `is already the reference of ${payout} in batch ${use.batch_id}; references are unique for ever`;
    bad.push({
      row: row.row,
      cells: row.cells,
      problems: [{ row: row.row, column: 'reference', value, problem, fix }],
    });
  }
  return { good, bad: bad.sort((a, b) => a.row - b.row) };
}

function counter(scan: Scan, config: Config): (row: GoodRow) => void {
  const unusual = new Set<string>();
  return ({ row, parsed, like, sameAccount }) => {
    const { currency, amount, bankCode, payOn } = parsed;
    const reference = parsed.reference ?? '';
    addSum(scan.good, currency, amount);
    addPart(scan.banks, bankCode, { currency, amount });
    if (payOn > scan.rules.today) addPart(scan.later, payOn, { currency, amount });
    // A window of 0 turns off the whole check, also inside the file.
    if (like !== null && config.submission.duplicateWindowDays > 0)
      scan.duplicates.add({ row, reference, earlier: like });
    else if (sameAccount !== null && config.submission.duplicateWindowDays > 0) {
      const text = `pays the account of row ${sameAccount} too`;
      scan.warnings.add({ row, text, shared: 'pays the account of an earlier row too' });
    }
    for (const warning of rowWarnings(parsed, config.intake, scan.rules))
      scan.warnings.add({ row, ...warning });
    if (currency !== 'NGN' && currency !== 'ZAR' && !unusual.has(currency)) {
      unusual.add(currency);
      const text = `currency ${currency}; the service documents NGN and ZAR only`;
      scan.warnings.add({ row, text, shared: text });
    }
    if (isAboveLimit(amount, currency, config.submission.payoutLimit)) {
      scan.overLimit.add({ row, currency, amount: formatMinor(amount, currency) });
    }
    if (isAboveLimit(amount, currency, config.submission.dailyLimit)) {
      scan.overDay.add({ row, currency, amount: formatMinor(amount, currency) });
    }
  };
}

function addPart(
  parts: Map<string, Sums>,
  key: string,
  { currency, amount }: { currency: string; amount: bigint },
): void {
  parts.set(key, addSum(parts.get(key) ?? { count: 0, totals: new Map() }, currency, amount));
}

export function addSum(sums: Sums, currency: string, amount: bigint): Sums {
  sums.count++;
  sums.totals.set(currency, (sums.totals.get(currency) ?? 0n) + amount);
  return sums;
}

/** Formats sums as in the contract: `{NGN: "1200000.00"}`. */
export function formatTotals(totals: ReadonlyMap<string, bigint>): Record<string, string> {
  return Object.fromEntries(
    [...totals]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([currency, sum]) => [currency, formatMinor(sum, currency)]),
  );
}
