import { join } from 'node:path';
import { Big } from 'big.js';
import {
  changedRows,
  differingRows,
  type RunPair,
  runsInOrder,
  type Twice,
} from '../../books/run-differences.sql.ts';
import { isFrozen, runRows } from '../../books/run-sheets.sql.ts';
import { type NamedCells, records, sheetOf, storedCells } from '../../books/sheet.ts';
import { isZero } from '../../books/statement/statement-figures.ts';
import {
  causeLines,
  countsOnly,
  type StatementLine,
  statementLines,
} from '../../books/statement/statement-lines.ts';
import { decimalDifference } from '../../core/domain/discrepancy.ts';
import { runFolder } from '../../core/domain/run-folder.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { writeCsv } from './csv-writer.ts';

/** A payout or transfer that a line counts in one of the runs and not in the other; `amount` as it moved the line. */
export type MovedAmount = {
  reference: string;
  batch: string;
  transfer_id: string;
  from: string;
  to: string;
  amount: string;
  why: string;
};
type Total = { count: number; amount: string };
export type LineChange = {
  currency: string;
  line: StatementLine;
  was: Total;
  now: Total;
  difference: Total;
  /** The lines that this one is the sum of; its rows are theirs. */
  follows_from?: readonly StatementLine[];
  moved: MovedAmount[];
};
type Named = { discrepancy_id: string; kind: string; reference: string; was: string; now: string };
export type RunComparison = {
  run: string;
  against: string;
  lines: LineChange[];
  discrepancies: { opened: Named[]; closed: Named[] };
};
/** `began`: when the two runs did, ISO UTC. */
export type Compared =
  | { kind: 'refused'; why: string }
  | { kind: 'compared'; comparison: RunComparison; file: string; began: Record<'run' | 'against', string> };

const follows: Partial<Record<StatementLine, readonly StatementLine[]>> = {
  closing: ['opening', 'submitted', 'reopened', 'settled', 'failed', 'refused'],
  net_paid: ['settled', 'returned', 'reopened'],
  listed_by_service: ['submitted', 'failed', 'refused', 'unseen', ...causeLines],
};

/** Explains line by line what changed between two runs, from their frozen rows alone: the result never changes. */
export function createCompareRuns(deps: { ledger: Ledger; config: Config; reports: string }) {
  const { ledger, config, reports } = deps;

  async function compare(names: [string, string]): Promise<Compared> {
    const [first, second] = await runsInOrder(ledger.db, names);
    const known = [first, second].flatMap((run) => (run ? [run.id] : []));
    const missing = names.find((name) => !known.includes(name));
    if (missing !== undefined)
      return refused(`no run ${missing} in this ledger: data/reports/index.html lists them`);
    if (!first || !second) return refused('name two different runs');
    const pair = { older: first.id, newer: second.id };
    const archived = [first, second].find((run) => run.archive_id !== null);
    if (archived)
      return refused(`run ${archived.id} is in an archive, and only runs of the ledger are compared`);
    for (const run of [pair.older, pair.newer])
      if (!(await isFrozen(ledger.db, run))) return refused(`run ${run} did not finish: it has no reports`);
    const lines = await changesOf(pair);
    const discrepancies = await discrepanciesOf(pair);
    const comparison = { run: pair.newer, against: pair.older, lines, discrepancies };
    const file = join(reports, runFolder(pair.newer), `against-${pair.older}.csv`);
    await writeCsv(file, csvPages(comparison), config.reports);
    const began = { run: second.started_at, against: first.started_at };
    return { kind: 'compared', comparison, file, began };
  }

  async function statementOf(run: string): Promise<NamedCells[]> {
    const rows: string[][] = [];
    for await (const page of runRows(ledger.db, run, 'statement')) rows.push(...page.map(storedCells));
    return records(rows);
  }

  async function changesOf(pair: RunPair): Promise<LineChange[]> {
    const moved = Map.groupBy([...(await bigMoves(pair)), ...(await rowMoves(pair))], ({ key }) => key);
    const was = totals(await statementOf(pair.older));
    const now = totals(await statementOf(pair.newer));
    const currencies = [...new Set([...was.keys(), ...now.keys()].map((key) => key.split(' ')[0] ?? ''))];
    return currencies.toSorted().flatMap((currency) =>
      statementLines.map((line) => {
        const key = `${currency} ${line}`;
        const none = countsOnly.has(line) ? unread : nothing;
        const [before, after] = [was.get(key) ?? none, now.get(key) ?? none];
        const difference = {
          count: after.count - before.count,
          amount: decimalDifference(after.amount, before.amount),
        };
        const from = follows[line];
        const own = (moved.get(key) ?? []).map(({ one }) => one);
        const sums = { was: before, now: after, difference };
        return { currency, line, ...sums, ...(from && { follows_from: from }), moved: own };
      }),
    );
  }

  async function rowMoves(pair: RunPair): Promise<Keyed[]> {
    return (await changedRows(ledger.db, pair)).flatMap((row) => {
      const { currency, line, reference, batch, transfer_id, why, times, was_state, now_state } = row;
      const amount = times < 0n ? decimalDifference('0', row.amount) : row.amount;
      const one = { reference, batch, transfer_id, from: was_state ?? '', to: now_state ?? '', amount, why };
      const often = Number(times < 0n ? -times : times);
      return Array.from({ length: often }, () => ({ key: `${currency} ${line}`, one }));
    });
  }

  /** Payouts that moved lines without their own rows, by the column `lines` of payouts.csv, and the fees. */
  async function bigMoves(pair: RunPair): Promise<Keyed[]> {
    const watched = ['payout_state', 'fee', 'lines'] as const;
    const rows = await differingRows(ledger.db, pair, 'payouts', { name: 'reference', watched });
    return rows.flatMap(({ was, now }) => {
      const [before, after] = [payoutOf(was), payoutOf(now)];
      const { reference, batch, transfer_id, currency, amount } = now === null ? before : after;
      const one = { reference, batch, transfer_id, from: before.state, to: after.state, why: '' };
      const counted = (['submitted', 'settled'] as const).flatMap((line) => {
        const times = after.times(line) - before.times(line);
        if (times === 0) return [];
        const product = Big(amount)
          .times(times)
          .toFixed(amount.split('.')[1]?.length ?? 0);
        return [{ key: `${currency} ${line}`, one: { ...one, amount: product } }];
      });
      const fee = decimalDifference(after.fee, before.fee);
      return isZero({ count: 0n, amount: fee })
        ? counted
        : [...counted, { key: `${currency} fees`, one: { ...one, amount: fee } }];
    });
  }

  async function discrepanciesOf(pair: RunPair): Promise<RunComparison['discrepancies']> {
    const paired = { name: 'discrepancy_id', watched: ['state'] as const };
    const rows = await differingRows(ledger.db, pair, 'discrepancies', paired);
    const isOpen = (row: NamedCells | null): boolean => ['open', 'acknowledged'].includes(row?.state ?? '');
    const name = ({ was, now }: Twice): Named => {
      const { discrepancy_id = '', kind = '', reference = '' } = now ?? was ?? {};
      const states = { was: was?.state ?? 'not there', now: now?.state ?? 'not there' };
      return { discrepancy_id, kind, reference, ...states };
    };
    return {
      opened: rows.filter(({ was, now }) => !isOpen(was) && isOpen(now)).map(name),
      closed: rows.filter(({ was, now }) => isOpen(was) && !isOpen(now)).map(name),
    };
  }

  return compare;
}

function refused(why: string): Compared {
  return { kind: 'refused', why };
}

type Keyed = { key: string; one: MovedAmount };
const nothing: Total = { count: 0, amount: '0' };
/** An unreadable amount is none. */
const unread: Total = { count: 0, amount: '' };

function totals(statement: NamedCells[]): Map<string, Total> {
  return new Map(
    statement.map(({ currency, line, count, amount = '0' }) => [
      `${currency} ${line}`,
      { count: Number(count), amount },
    ]),
  );
}

/** A row of payouts.csv as the comparison needs it; a fee counts while the payout is paid. */
function payoutOf(row: NamedCells | null) {
  const { reference = '', batch = '', currency = '', transfer_id = '', fee = '' } = row ?? {};
  const state = row?.payout_state ?? '';
  const lines = row?.lines?.split('+') ?? [];
  const isPaid = ['success', 'returned'].includes(state);
  return {
    ...{ reference, batch, currency, state, transfer_id },
    amount: row?.amount || '0',
    fee: isPaid && /^\d+(\.\d+)?$/.test(fee) ? fee : '0',
    times: (line: StatementLine) =>
      lines.filter((one) => one === line).length - lines.filter((one) => one === `-${line}`).length,
  };
}

type CsvRow = Partial<MovedAmount> &
  Partial<Record<'was' | 'now' | 'difference', string>> & { currency: string; line: string };
const csv = sheetOf<CsvRow>({
  currency: (row) => row.currency,
  line: (row) => row.line,
  was: ({ was = '' }) => was,
  now: ({ now = '' }) => now,
  difference: ({ difference = '' }) => difference,
  reference: ({ reference = '' }) => reference,
  batch: ({ batch = '' }) => batch,
  transfer_id: ({ transfer_id = '' }) => transfer_id,
  from: ({ from = '' }) => from,
  to: ({ to = '' }) => to,
  amount: ({ amount = '' }) => amount,
  why: ({ why = '' }) => why,
});

async function* csvPages({ lines, discrepancies }: RunComparison): AsyncGenerator<string[][]> {
  yield [csv.header];
  for (const { currency, line, was, now, difference, follows_from, moved } of lines) {
    const why = follows_from ? `follows from ${follows_from.join(', ')}` : '';
    const sums = { was: was.amount, now: now.amount, difference: difference.amount };
    yield [csv.cells({ currency, line, ...sums, why })];
    yield moved.map((one) => csv.cells({ currency, line, ...one }));
  }
  for (const [what, all] of Object.entries(discrepancies))
    yield all.map(({ discrepancy_id, kind, reference, was, now }) => {
      const why = `${discrepancy_id} ${kind}`;
      return csv.cells({ currency: '', line: `discrepancy ${what}`, reference, from: was, to: now, why });
    });
}
