import { type ListStanding, type Verdict, verdicts, worstVerdict } from '../core/domain/verdict.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Period } from '../core/storage/tables/period-tables.ts';
import { findRun } from './batch-results.sql.ts';
import { periodRows, periodSheets } from './periods.sql.ts';
import { type RunVerdict, verdictsOf } from './run-verdicts.sql.ts';
import { type NamedCells, records, storedCells } from './sheet.ts';

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
  const sheet: string[][] = [];
  for await (const page of periodRows(db, period, 'statement'))
    sheet.push(...page.map(({ cells }) => storedCells(cells)));
  const statement = records(sheet);
  const run = period.run_id === null ? undefined : await findRun(db, period.run_id);
  const list = run?.list_standing ?? null;
  const ofRun = run ? ((await verdictsOf(db, [run.id])).get(run.id) ?? []) : [];
  const found = verdictsIn(statement, ofRun);
  const all = found.map(({ verdict }) => verdict);
  const whole = worstVerdict(list, all);
  return { period, comparedAt: run?.started_at ?? null, list, whole, verdicts: found, statement };
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
