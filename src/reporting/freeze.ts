import type { Config } from '../config.ts';
import type { Ledger } from '../ledger/open.ts';
import { addRunRows, clearRunRows, findRun } from '../ledger/reports.ts';
import {
  type DiscrepancyLine,
  discrepancyLines,
  feeSums,
  flowSums,
  listedSums,
  type PayoutLine,
  payoutLines,
  type Scope,
  standingSums,
} from '../ledger/run-facts.ts';
import { createAgeing } from './ageing.ts';
import { matchState } from './match-state.ts';
import { money, zoned } from './presentation.ts';
import { statementRows } from './statement.ts';

const payoutColumns = [
  'reference',
  'batch',
  'row',
  'account_number',
  'account_name',
  'bank_code',
  'amount',
  'currency',
  'payout_state',
  'match_state',
  'transfer_id',
  'trx',
  'fee',
  'service_status',
  'service_amount',
  'submitted_at',
  'settled_at',
  'evidence',
];
const discrepancyColumns = [
  'discrepancy_id',
  'kind',
  'severity',
  'reference',
  'batch',
  'trx',
  'transfer_id',
  'currency',
  'expected',
  'actual',
  'difference',
  'first_seen_at',
  'last_seen_at',
  'age_days',
  'state',
  'evidence',
  'action',
  'note',
];

/**
 * Computes the sheets of a run whose listing is staged and paired, from the ledger as of `at` (ISO UTC) and stores their rows, so that every later
 * `report RUN` gives the same bytes. Begins again from nothing after an interruption. Throws when there is no such run.
 */
export function createFreeze(deps: { ledger: Ledger; config: Config }) {
  const { ledger, config } = deps;
  const zone = config.reports.timezone;

  async function freezeSheet(run: string, name: string, pages: AsyncIterable<string[][]>): Promise<void> {
    let position = 0;
    for await (const page of pages) {
      await ledger.write((trx) => addRunRows(trx, { run, name, position }, page));
      position += page.length;
    }
  }

  async function* payouts(scope: Scope): AsyncGenerator<string[][]> {
    yield [payoutColumns];
    for await (const page of payoutLines(ledger.db, scope))
      yield page.map((line) => payoutCells(line, scope, zone));
  }

  async function freezeDiscrepancies(scope: Scope): Promise<void> {
    const ageing = createAgeing(scope.cut);
    async function* sheet(): AsyncGenerator<string[][]> {
      yield [discrepancyColumns];
      for await (const page of discrepancyLines(ledger.db, scope)) {
        for (const line of page) ageing.add(line);
        yield page.map((line) => discrepancyCells(line, ageing.ageDays(line.first_seen_at), zone));
      }
    }
    await freezeSheet(scope.run, 'discrepancies', sheet());
    await ledger.write((trx) =>
      addRunRows(trx, { run: scope.run, name: 'ageing', position: 0 }, ageing.rows()),
    );
  }

  /** One transaction, so that flows, standings and listing are of one moment; the last sheet, so that it marks the whole. */
  async function freezeStatement(scope: Scope): Promise<void> {
    await ledger.write(async (trx) => {
      const rows = statementRows({
        flows: await flowSums(trx, scope),
        standings: await standingSums(trx, scope),
        listed: await listedSums(trx, scope),
        fees: await feeSums(trx, scope),
      });
      const sheet = { run: scope.run, name: 'statement', position: 0 };
      await addRunRows(trx, sheet, [['currency', 'line', 'count', 'amount'], ...rows]);
    });
  }

  return async function freezeRun(runId: string, at: string): Promise<void> {
    const run = await findRun(ledger.db, runId);
    if (!run) throw new Error(`no such run: ${runId}`);
    const scope: Scope = { run: run.id, mode: run.mode, startedAt: run.started_at, cut: at };
    await clearRunRows(ledger, run.id);
    await freezeSheet(run.id, 'payouts', payouts(scope));
    await freezeDiscrepancies(scope);
    await freezeStatement(scope);
  };
}

function payoutCells({ payout, state, late, listed }: PayoutLine, scope: Scope, zone: string): string[] {
  return [
    payout.reference,
    payout.batch_id,
    payout.row_number.toString(),
    payout.account_number,
    payout.account_name,
    payout.bank_code,
    money(payout.amount, payout.currency),
    payout.currency,
    state,
    matchState({ mode: scope.mode, state, late, payout, listed }),
    payout.transfer_id ?? '',
    payout.trx ?? '',
    payout.fee ?? '',
    listed?.status ?? '',
    listed ? serviceAmount(listed) : '',
    zoned(payout.submitted_at, zone),
    zoned(payout.settled_at, zone),
    payout.evidence,
  ];
}

function serviceAmount(listed: { amount: bigint | null; amount_text: string; currency: string }): string {
  return listed.amount === null ? listed.amount_text : money(listed.amount, listed.currency);
}

function discrepancyCells(line: DiscrepancyLine, ageDays: number, zone: string): string[] {
  return [
    line.id,
    line.kind,
    line.severity,
    line.reference,
    line.batch_id ?? '',
    line.trx ?? '',
    line.transfer_id ?? '',
    line.currency,
    line.expected,
    line.actual,
    line.difference,
    zoned(line.first_seen_at, zone),
    zoned(line.last_seen_at, zone),
    ageDays.toString(),
    line.state,
    line.evidence,
    line.action,
    line.note,
  ];
}
