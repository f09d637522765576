import { unresolvedStates } from '../core/domain/discrepancy-life.ts';
import { type ListStanding, type Verdict, verdicts, worstVerdict } from '../core/domain/verdict.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Period } from '../core/storage/tables/period-tables.ts';
import { findRun } from './batch-results.sql.ts';
import { paidByColumn } from './column-totals.sql.ts';
import { allPaid } from './column-totals.ts';
import { countOpen } from './discrepancies/discrepancies.sql.ts';
import { approvalRows, type MonthSpan } from './month-facts.sql.ts';
import { type PeriodSheet, periodRows, periodRowsWithin, periodSheets } from './periods.sql.ts';
import { type RunVerdict, verdictsOf } from './run-verdicts.sql.ts';
import { type NamedCells, named, records, storedCells } from './sheet.ts';
import { openKindRows, type WarnedLine, warnedLines } from './statement/freeze-period.ts';
import { entrySheet, linePlaces, linePosition } from './statement/statement.ts';

/** A closed month with its frozen statement. `list`: how far the list can be used that it was compared with. */
export type ClosedMonth = {
  period: Period;
  /** When the list was read, ISO UTC; null without one. */
  comparedAt: string | null;
  list: ListStanding | null;
  whole: Verdict;
  verdicts: RunVerdict[];
  statement: NamedCells[];
};

/** Reads what a closed month says, from its frozen rows and the run that it names. */
export async function closedMonth(db: Db, period: Period): Promise<ClosedMonth> {
  const statement = (await sheetOfMonth(db, period, 'statement')) ?? [];
  const run = period.run_id === null ? undefined : await findRun(db, period.run_id);
  const list = run?.list_standing ?? null;
  const ofRun = run ? ((await verdictsOf(db, [run.id])).get(run.id) ?? []) : [];
  const found = verdictsIn(statement, ofRun);
  const all = found.map(({ verdict }) => verdict);
  const whole = worstVerdict(list, all);
  return { period, comparedAt: run?.started_at ?? null, list, whole, verdicts: found, statement };
}

/** Rows of one line of the statement that waits for a person. */
export type LeftOpen = { line: WarnedLine; rows: NamedCells[] };

/**
 * What a month shows besides its statement, frozen or as it stands. `paid`: in all; `columns`: by each column of the
 * files; `open`: discrepancies that are not resolved, by kind; `left`: the first rows of the lines that wait. `open` is null
 * where an older version closed the month.
 */
export type MonthParts = {
  paid: NamedCells[];
  columns: NamedCells[];
  approvals: NamedCells[];
  open: NamedCells[] | null;
  left: LeftOpen[];
};

/** The most rows of a line in a currency that a page shows; statement-rows.csv has all. */
export const mostLeft = 100;

/** The frozen parts of a closed month; those that an older version did not freeze are absent. */
export async function frozenParts(
  db: Db,
  { period, statement }: ClosedMonth,
): Promise<Partial<MonthParts> & Pick<MonthParts, 'left'>> {
  const columns = await sheetOfMonth(db, period, 'totals-by-column');
  const approvals = await sheetOfMonth(db, period, 'approvals');
  const open = await sheetOfMonth(db, period, 'open-discrepancies');
  return {
    ...(columns && paidParts(columns)),
    ...(approvals && { approvals }),
    ...(open && { open }),
    left: await leftOpen(db, period, statement),
  };
}

/**
 * The same parts as they stand now; `sums`: what was paid too, which reads every paid row. `unique`:
 * `intake.unique_columns`.
 */
export async function standingParts(
  db: Db,
  span: MonthSpan,
  { show, sums, unique }: { show: (instant: string) => string; sums: boolean; unique: readonly string[] },
): Promise<MonthParts> {
  return {
    ...paidParts(sums ? records(await paidByColumn(db, span, unique)) : []),
    approvals: records(await approvalRows(db, span, show)),
    open: records(openKindRows(await countOpen(db, unresolvedStates))),
    left: [],
  };
}

function paidParts(rows: readonly NamedCells[]): Pick<MonthParts, 'paid' | 'columns'> {
  const isAll = ({ column }: NamedCells): boolean => column === allPaid;
  return { paid: rows.filter(isAll), columns: rows.filter((row) => !isAll(row)) };
}

async function sheetOfMonth(db: Db, period: Period, sheet: PeriodSheet): Promise<NamedCells[] | null> {
  const rows: string[][] = [];
  for await (const page of periodRows(db, period, sheet))
    rows.push(...page.map(({ cells }) => storedCells(cells)));
  return rows.length === 0 ? null : records(rows);
}

async function leftOpen(db: Db, period: Period, statement: readonly NamedCells[]): Promise<LeftOpen[]> {
  const found: LeftOpen[] = [];
  for (const line of warnedLines) {
    const rows: NamedCells[] = [];
    for (const { currency = '', count, ...row } of statement) {
      if (row.line !== line || count === '0') continue;
      const [from, before] = [
        linePosition({ currency, line }, 0n),
        linePosition({ currency, line }, linePlaces),
      ];
      const some = await periodRowsWithin(db, period, 'statement-rows', {
        from,
        before,
        limit: mostLeft + 1,
      });
      const cells = some.map((one) => named(entrySheet.header, storedCells(one.cells)));
      // Currencies that no code names share their places.
      rows.push(...cells.filter((one) => one.currency === currency));
    }
    if (rows.length > 0) found.push({ line, rows: rows.slice(0, mostLeft) });
  }
  return found;
}

/** The verdict that stands on every row of a currency. `ofRun`: the run's, which say what the list overturned. */
function verdictsIn(statement: readonly NamedCells[], ofRun: readonly RunVerdict[]): RunVerdict[] {
  const words = new Map(statement.map(({ currency = '', verdict = '' }) => [currency, verdict]));
  return [...words].map(([currency, word]) => {
    // A word that is none of ours is no proof that anything was compared.
    const verdict = verdicts.find((one) => one === word) ?? 'not_compared';
    const overturned = ofRun.find((one) => one.currency === currency)?.overturned ?? 0n;
    return { currency, verdict, overturned };
  });
}

export function periodFolder(month: string): string {
  return `period-${month}`;
}

/** The files of a closed month for people. They open the first. */
export const periodReadable = ['report.html', 'report.xlsx'] as const;

export const periodFiles: readonly string[] = [
  ...periodReadable,
  ...periodSheets.map((sheet) => `${sheet}.csv`),
];
