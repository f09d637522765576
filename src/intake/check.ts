import type { SayAdvice } from '../core/domain/advice.ts';
import { columnWarnings } from '../core/domain/column-names.ts';
import { generatedReference } from '../core/domain/ids.ts';
import { formatMinor } from '../core/domain/money.ts';
import { dayOf } from '../core/domain/pay-day.ts';
import type { PayoutState } from '../core/domain/payout.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { progressText } from '../core/domain/progress.ts';
import { retryColumns } from '../core/domain/retry-file.ts';
import { batchCounts, findByContentHash, wasSent } from '../core/ledger/batches.ts';
import { takenTotals } from '../core/ledger/capacity.ts';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { PayeeComparison } from '../core/ledger/payee-comparisons.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { hiddenBy, payeeWarnings, shownComparison } from '../sending/payee-facts.ts';
import { type Control, controlProblems } from './control.ts';
import type { HandedIn } from './dropper.ts';
import { fileReasons, ledgerLikeness } from './file-reasons.ts';
import { approvalAhead, sharedFile, waitsAhead } from './foresight.ts';
import { delimiterOf } from './header.ts';
import { type Likeness, likenessOf, nearTo } from './likeness.sql.ts';
import { fileRowsOf, payeesOf } from './payees.ts';
import { foreseeing, heldOriginals, type RetryRows } from './retries.ts';
import { type RowWarning, rowWarningText } from './row-warnings.ts';
import { findSavedAgain, savedRows } from './saved-again.sql.ts';
import {
  capped,
  formatTotals,
  newScan,
  type RulesOf,
  rowRules,
  type Scan,
  type ScanSinks,
  type Sums,
  scanFile,
} from './scan.ts';
import { keptRows } from './second-pass.ts';
import { openProblem, unendedWarning } from './unfinished.ts';
import { unfitName, whyUnreadable } from './unreadable.ts';
import type { ValueAgain } from './values-again.sql.ts';

/** A row that looks like another payment; `earlier` names that one. */
type Duplicate = { row: number; reference: string; earlier: string };

/** The result of `check` for one file. */
export type Checked = {
  file: string;
  /** Whether the file would be taken; with `skip_row` perhaps without some of its rows. */
  ok: boolean;
  /** The name of the delimiter: comma, semicolon or tab; null where it has none, or no header was recognised. */
  delimiter: string | null;
  /** The batch that its content became before; null for new content, and where that was cancelled unsent. */
  takenAs: string | null;
  /** The cells of the header. */
  columns: readonly string[];
  /** Lines as a text editor counts them, with the header. */
  lines: number;
  /** Rows in the file, good and bad. */
  rows: number;
  /** How many of them `skip_row` would leave out of the batch. */
  skipped: number;
  /** Sums of the rows that can be paid. */
  totals: Record<string, string>;
  /** Sums by bank code. */
  banks: Record<string, { count: number; totals: Record<string, string> }>;
  warnings: string[];
  /** The same: those of single rows, and those of the file as a whole. */
  rowWarnings: RowWarning[];
  fileWarnings: string[];
  /** The first 10,000; `problemCount` counts all. */
  problems: Problem[];
  problemCount: number;
  duplicates: Duplicate[];
  /** Rows that pay a failed, refused or returned payout again, and the columns in which they differ from it. */
  retries: { row: number; reference: string; pays_again: string; state: PayoutState; changed: string[] }[];
  /** Why the batch would be held. */
  holdReasons: HoldReason[];
  /** Why a part of the batch would wait without being held. */
  waits: string[];
  /** How it differs from the last batch of its series; null without one. */
  compared: PayeeComparison | null;
  contentHash: string;
};

type Deps = {
  ledger: Ledger;
  config: Config;
  clock: Clock;
  retries: RetryRows;
  say: SayAdvice;
  serviceNow: RulesOf['serviceNow'];
};

/**
 * Finds the batch that this content became before; it is the one problem of the file (P23). Problems of
 * single rows are not reported: people who then change references would pay twice. `pays`: it was not cancelled unsent.
 */
export async function takenBefore(
  scan: Scan,
  { ledger, config, say }: Pick<Deps, 'ledger' | 'config' | 'say'>,
): Promise<{ batch: string; pays: boolean; problem: Problem } | null> {
  // A broken file has no hash: the unreadable part may be a payment that the batch lacks.
  if (scan.contentHash === '') return null;
  const before = await findByContentHash(ledger.db, scan.contentHash);
  if (!before) return null;
  const [now] = await batchCounts(ledger.db, [before.id]);
  const { ready = 0, held = 0 } = now?.counts ?? {};
  const { mode } = config;
  const problem = `this content was already taken as batch ${before.id} on ${dayOf(before.created_at, config.reports.timezone)}: ${progressText(now?.counts ?? {})}`;
  const paysAgain = retryColumns(scan.header?.columns ?? []) !== null;
  const pays = now?.state !== 'cancelled' || (await wasSent(ledger.db, before.id));
  const fix = !pays
    ? `that batch was cancelled and is never sent. To pay it, drop ${paysAgain ? 'the failed.csv that was written since: it names the next references' : 'it again with new references'}`
    : `${say({ kind: 'rest_of_file', mode, ready: ready > 0, held: held > 0 })}. Do not change the references: new ones would pay again`;
  return { batch: before.id, pays, problem: wholeFile(problem, fix) };
}

/** Returns the problems of the file as a whole: no rows, other control figures, sums that are too large. */
export async function fileProblems(
  path: string,
  scan: Scan,
  { ledger, config }: Pick<Deps, 'ledger' | 'config'>,
  figures: Control,
): Promise<Problem[]> {
  if (scan.broken) return [];
  if (scan.fileRows === 0) return [wholeFile('the file has a header and no rows', 'add at least one row')];
  // The sums leave out bad rows. A file that is refused anyway needs no comparison.
  if (scan.badRows > 0 && config.intake.onInvalidRow === 'reject_file') return [];
  return [
    ...(await controlProblems(path, figures, scan.good)),
    ...(await capacityProblems(scan.good, { ledger })),
  ];
}

/** Whether bad rows of this scan refuse the whole file. */
export function refuses(scan: Scan, config: Config): boolean {
  return (
    scan.broken || scan.good.count === 0 || (scan.badRows > 0 && config.intake.onInvalidRow === 'reject_file')
  );
}

type CheckOptions = Control & { payOn?: string | undefined; origin?: HandedIn['origin'] };

/** Validates one file against the rules and the ledger; records nothing. */
export async function checkFile(
  deps: Deps,
  path: string,
  { payOn, rows, totals, origin = 'named' }: CheckOptions = {},
): Promise<Checked> {
  const missing = (await whyUnreadable(path)) ?? unfitName(path) ?? (await openProblem(path));
  if (missing) return checkedOf(path, { ...newScan(rowRules(deps)), broken: true }, [missing]);
  const { ledger, config, clock } = deps;
  const alikes = capped<Likeness>(100_000);
  const near = nearTo({ config, nowMs: clock.now() });
  const kept = keptRows(path);
  const saved: { rows?: ReturnType<typeof savedRows> } = {};
  const sinks: ScanSinks = {
    problem: async () => {},
    badRow: async () => {},
    async good(rows, plans, { columns }) {
      kept.add(rows);
      saved.rows ??= savedRows(columns);
      saved.rows.add(rows);
      const wanted = rows.map(({ row, parsed }) => {
        const replaces = plans.get(row)?.replaces.line;
        return { row, ...parsed, reference: parsed.reference ?? '', replaces };
      });
      for (const one of await likenessOf(ledger.db, wanted, near)) alikes.add(one);
    },
  };
  const scan = await scanFile(path, { ...deps, payOn, retries: foreseeing(deps.retries) }, sinks);
  const before = await takenBefore(scan, deps);
  if (before) {
    const takenAs = before.pays ? before.batch : null;
    return { ...checkedOf(path, { ...scan, problems: capped(0) }, [before.problem]), takenAs };
  }
  const shared = sharedFile(scan, { origin }, config);
  const extra = [...shared, ...(await fileProblems(path, scan, deps, { rows, totals }))];
  const found = { count: alikes.count, first: alikes.list };
  const retried = { db: ledger.db, plans: scan.retries };
  const alike = await ledgerLikeness({ clock, config }, async () => found, retried);
  const name = (one: Likeness): Duplicate => ({
    row: one.row,
    reference: one.reference || generatedReference(config.intake.referencePrefix, scan.contentHash, one.row),
    earlier: `${one.earlierReference} in batch ${one.earlierBatch}`,
  });
  const repeated = scan.duplicates.list.map((one): Duplicate => ({ ...one, earlier: `row ${one.earlier}` }));
  const values = scan.valuesAgain.list.map(valueDuplicate);
  const duplicates = [...repeated, ...values, ...alike.recent.slice(0, 1000).map(name)];
  const again =
    alike.reasons.length > 0
      ? alike.reasons
      : await findSavedAgain(ledger.db, saved.rows?.end() ?? null, { zone: config.reports.timezone });
  const own = [...fileReasons(scan), ...heldOriginals(scan.retries), ...again];
  const ok = extra.length === 0 && !refuses(scan, config);
  const payees = ok ? await payeesOf(deps, scan, fileRowsOf(path, { config, scan, kept })) : null;
  const compared = payees?.comparison ?? null;
  const holdReasons = [...own, ...approvalAhead(scan, config, compared)];
  const checked = checkedOf(path, scan, extra, { ok, holdReasons, duplicates });
  const waits = checked.ok ? await waitsAhead(scan, deps) : [];
  return {
    ...checked,
    waits,
    compared: compared && shownComparison(compared, hiddenBy(config.reports)),
    ...warningsOf(scan, [...(await unendedWarning(path, scan)), ...payeeWarnings(compared)]),
  };
}

/** A row with a value that was paid before, for people. */
function valueDuplicate({ row, reference, column, value, before }: ValueAgain): Duplicate {
  const of = 'row' in before ? `row ${before.row}` : `${before.reference} in batch ${before.batch}`;
  return { row, reference, earlier: `${of} (${column} "${value}")` };
}

type Concluded = Pick<Checked, 'ok' | 'holdReasons' | 'duplicates'>;
const refusedWhole: Concluded = { ok: false, holdReasons: [], duplicates: [] };

/** The contract's form of a scan and its conclusions. */
function checkedOf(
  file: string,
  scan: Scan,
  extra: Problem[],
  { ok, holdReasons, duplicates }: Concluded = refusedWhole,
): Checked {
  const problems = [...extra, ...scan.problems.list];
  return {
    file,
    ok,
    takenAs: null,
    delimiter: delimiterOf(scan.header),
    columns: scan.header?.columns ?? [],
    lines: scan.lines,
    rows: scan.fileRows,
    skipped: ok ? scan.badRows : 0,
    totals: formatTotals(scan.good.totals),
    banks: Object.fromEntries(
      [...scan.banks].map(([code, sums]) => [code, { count: sums.count, totals: formatTotals(sums.totals) }]),
    ),
    ...warningsOf(scan, []),
    problems,
    problemCount: extra.length + scan.problems.count,
    duplicates,
    retries: scan.retries.map(({ row, reference, replaces: { reference: of, state, changed } }) => ({
      row,
      reference,
      pays_again: of,
      state,
      changed,
    })),
    holdReasons,
    waits: [],
    compared: null,
    contentHash: scan.contentHash,
  };
}

/** The warnings that were kept, those of the file after those of rows, and how many more there were. */
export function warningsOf(
  { header, warnings: { list, count } }: Scan,
  ofFile: readonly string[],
): Pick<Checked, 'warnings' | 'rowWarnings' | 'fileWarnings'> {
  const rest = count - list.length;
  const ofColumns = columnWarnings(header?.columns ?? []);
  const fileWarnings = [...(rest > 0 ? [`and ${rest} more warnings`] : []), ...ofColumns, ...ofFile];
  return { warnings: [...list.map(rowWarningText), ...fileWarnings], rowWarnings: list, fileWarnings };
}

/**
 * The largest sum of one currency in a ledger: half of what 64 bits hold. The ledger's queries add up payouts
 * in 64 bits, and a larger sum would fail them for ever. The other half is room for successors of retries.
 */
const mostTogether = 2n ** 62n;

/** Returns why the ledger cannot hold this file beside its other payouts. Amounts like these are mistakes. */
async function capacityProblems({ totals }: Sums, { ledger }: { ledger: Ledger }): Promise<Problem[]> {
  // Sums far below the limit need no query.
  if ([...totals.values()].every((sum) => sum < mostTogether / 1_000_000n)) return [];
  const taken = await takenTotals(ledger.db);
  return [...totals].flatMap(([currency, sum]) => {
    const before = taken.get(currency) ?? 0n;
    if (before + sum <= mostTogether) return [];
    const problem = `holds ${currency} ${formatMinor(sum, currency)}; with ${formatMinor(before, currency)} taken before that is more than a ledger adds up (${formatMinor(mostTogether, currency)})`;
    return [wholeFile(problem, 'check the amounts: some have too many digits')];
  });
}
