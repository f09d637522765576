import type { Scope } from '../../reconciliation/run-facts.sql.ts';
import type { Config } from '../../settings/settings.ts';
import type { Ledger } from '../../storage/ledger.ts';
import type { Run } from '../../storage/tables/tables.ts';
import { lastPeriod, listingOf } from '../periods.sql.ts';
import { money, zoned } from '../presentation.ts';
import { addPlacedRows, addRunRows } from '../reports.sql.ts';
import { computeStatement, type Stated, type Statement } from './compute-statement.ts';
import { matchState } from './match-state.ts';
import { linesWithRows, rowsHeader, statementHeader } from './statement-lines.ts';
import { type About, shownRow, standAt } from './statement-rows.ts';

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
  'lines',
];

/** Computes payouts.csv and the statement of a run in one walk, so that both speak of the same moment and the same rows. */
export function createFreezeBooks(deps: { ledger: Ledger; config: Config }) {
  const { ledger, config } = deps;
  const zone = config.reports.timezone;
  const show = (instant: string): string => zoned(instant, zone);

  /** What the statement of a run is about: from the end of the last closed month, else the ledger's beginning (P30). */
  async function aboutRun(run: Run, { mode, through }: Scope): Promise<About> {
    const closed = await lastPeriod(ledger.db);
    return {
      mode,
      span: { from: closed?.through_history ?? 0n, through },
      known: through,
      listing: listingOf(run, config.reconciliation.missingGraceMinutes),
      since: config.reconciliation.since || ledger.birth,
      until: null,
      show,
    };
  }

  /** Stores payouts and statement rows; gives the verdicts and the rows of statement.csv, header first, which mark the whole when stored. */
  return async function freezeBooks(run: Run, scope: Scope): Promise<Statement> {
    const about = await aboutRun(run, scope);
    let position = 1;
    const store = (name: string, rows: string[][], at: number): Promise<void> =>
      ledger.write((trx) => addRunRows(trx, { run: run.id, name, position: at }, rows));
    await store('payouts', [payoutColumns], 0);
    await store('statement-rows', [rowsHeader], 0);
    const { rows, verdicts } = await computeStatement(ledger.db, about, {
      async payouts(page) {
        const cells = page.flatMap((stated) => payoutCells(stated, about));
        await store('payouts', cells, position);
        position += cells.length;
      },
      rows: (placed) => ledger.write((trx) => addPlacedRows(trx, run.id, 'statement-rows', placed)),
    });
    return { rows: [statementHeader, ...rows], verdicts };
  };
}

/** The row of payouts.csv; none for what was taken in after the cut. */
function payoutCells(stated: Stated, about: About): string[][] {
  const { payout } = stated.facts;
  const { state, late } = standAt(stated.facts, about);
  if (state === null) return [];
  const listed = shownRow(stated.facts, about.mode);
  const cells = [
    payout.reference,
    payout.batch_id,
    payout.row_number.toString(),
    payout.account_number,
    payout.account_name,
    payout.bank_code,
    money(payout.amount, payout.currency),
    payout.currency,
    state,
    matchState({ mode: about.mode, state, late, payout, listed }),
    payout.transfer_id ?? '',
    payout.trx ?? '',
    payout.fee ?? '',
    listed?.status ?? '',
    listed ? serviceAmount(listed) : '',
    zonedOr(payout.submitted_at, about),
    zonedOr(payout.settled_at, about),
    payout.evidence,
    bigLines(stated),
  ];
  return [cells];
}

/**
 * Which of the lines without rows of their own count this payout, such as `submitted+settled+listed_by_service`; a minus
 * where the line takes it back.
 */
function bigLines({ entries }: Stated): string {
  const big = entries.filter(({ line }) => !linesWithRows.includes(line));
  return big.map(({ line, count }) => (count < 0n ? `-${line}` : line)).join('+');
}

const zonedOr = (instant: string | null, { show }: About): string => (instant === null ? '' : show(instant));

function serviceAmount(listed: { amount: bigint | null; amount_text: string; currency: string }): string {
  return listed.amount === null ? listed.amount_text : money(listed.amount, listed.currency);
}
