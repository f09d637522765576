import { type Verdict, worstVerdict } from '../core/domain/verdict.ts';
import { newestHistory } from '../core/ledger/history.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger, Trx } from '../core/storage/ledger.ts';
import { ageDays, createAgeing } from './ageing.ts';
import { findRun } from './batch-results.sql.ts';
import { collectionPages } from './collection-cells.ts';
import { noteCompared } from './compared-batches.sql.ts';
import { discrepancyLines, type RunScope } from './discrepancies/run-facts.sql.ts';
import { discrepancySheet } from './discrepancy-cells.ts';
import { figureRows } from './figures.ts';
import { openRows } from './figures-open.ts';
import type { FrozenWords } from './frozen-words.ts';
import { addSheetRows, beginFreeze, endFreeze, placedFrom, shareRows } from './run-sheets.sql.ts';
import { setVerdicts } from './run-verdicts.sql.ts';
import { createFreezeBooks } from './statement/freeze-books.ts';
import { type CurrencyVerdict, statementSheet } from './statement/statement.ts';

/** The verdict on a frozen run, and on each of its currencies. */
export type Frozen = { verdict: Verdict; currencies: CurrencyVerdict[] };
type End<T> = (trx: Trx, frozen: Frozen) => Promise<T>;

/**
 * Computes the sheets of a run from the ledger as of `at` (ISO UTC), and stores their rows. Every later `report RUN`
 * then gives the same bytes. Rows that equal those of the run before are stored once. The run's listing must be staged
 * and paired. An interrupted freeze starts again from nothing. `end` runs in the transaction that makes the run whole.
 * Returns what `end` returns; without it the verdicts, which every report of the run repeats. Throws when there is no such
 * run.
 */
export function createFreeze(deps: { ledger: Ledger; config: Config; words: FrozenWords }) {
  const { ledger, config, words } = deps;
  const zone = config.reports.timezone;
  const freezeBooks = createFreezeBooks(deps);

  function store(since: bigint, sheet: string, rows: string[][], position = 0): Promise<void> {
    return ledger.write((trx) => addSheetRows(trx, since, sheet, placedFrom(position, rows)));
  }

  async function freezeSheet(since: bigint, name: string, pages: AsyncIterable<string[][]>): Promise<void> {
    let position = 0;
    for await (const page of pages) {
      await store(since, name, page, position);
      position += page.length;
    }
  }

  async function freezeDiscrepancies(scope: RunScope, since: bigint): Promise<void> {
    const ageing = createAgeing(scope.cut);
    async function* sheet(): AsyncGenerator<string[][]> {
      yield [discrepancySheet.header];
      for await (const page of discrepancyLines(ledger.db, scope)) {
        for (const line of page) ageing.add(line);
        yield page.map((line) => {
          const age = ageDays(line.first_seen_at, scope.cut);
          return discrepancySheet.cells({ ...line, ageDays: age, zone, action: words.action(line) });
        });
      }
    }
    await freezeSheet(since, 'discrepancies', sheet());
    await store(since, 'ageing', ageing.rows());
  }

  /** The extra sheets of report.html and report.xlsx. Each is small, whatever the number of payouts. */
  async function freezeFigures(scope: RunScope, since: bigint): Promise<void> {
    const sheets = {
      ...(await openRows(ledger.db, scope, { zone, words })),
      ...(await figureRows(ledger.db, scope, zone)),
    };
    await ledger.write(async (trx) => {
      for (const [name, rows] of Object.entries(sheets))
        await addSheetRows(trx, since, name, placedFrom(0, rows));
    });
  }

  async function freezeRun(runId: string, at: string): Promise<Frozen>;
  async function freezeRun<T>(runId: string, at: string, end: End<T>): Promise<T>;
  async function freezeRun(
    runId: string,
    at: string,
    end: End<unknown> = async (_trx, frozen) => frozen,
  ): Promise<unknown> {
    const run = await findRun(ledger.db, runId);
    if (!run) throw new Error(`no such run: ${runId}`);
    // Before the books are cut: what changes in between counts as changed since.
    await ledger.write((trx) => noteCompared(trx, run.id));
    const through = await newestHistory(ledger.db);
    const scope: RunScope = { run: run.id, mode: ledger.mode, startedAt: run.started_at, cut: at, through };
    const since = await beginFreeze(ledger);
    const { rows, verdicts } = await freezeBooks(run, scope, since);
    await freezeDiscrepancies(scope, since);
    await freezeSheet(since, 'collections', collectionPages(ledger.db, zone));
    await freezeFigures(scope, since);
    await shareRows(ledger, since);
    const all = verdicts.map(({ verdict }) => verdict);
    const whole = worstVerdict(run.list_standing, all);
    const currencies = verdicts.map(({ currency, verdict, facts }) => {
      return { currency, verdict, overturned: facts.overturned.count };
    });
    return ledger.write(async (trx) => {
      await setVerdicts(trx, run.id, { whole, currencies });
      await endFreeze(trx, run.id, { since, rows: statementSheet.all(rows) });
      return end(trx, { verdict: whole, currencies: verdicts });
    });
  }
  return freezeRun;
}
