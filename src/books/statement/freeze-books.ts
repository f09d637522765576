import type { PayoutState } from '../../core/domain/payout.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import type { Run } from '../../core/storage/tables/tables.ts';
import type { RunScope } from '../discrepancies/run-facts.sql.ts';
import type { FrozenWords } from '../frozen-words.ts';
import { lastPeriod, listingOf } from '../periods.sql.ts';
import { money, zoned } from '../presentation.ts';
import { addSheetRows, type PlacedRow, placedFrom } from '../run-sheets.sql.ts';
import { sheetOf } from '../sheet.ts';
import type { ListedPart, StatedPayout } from '../statement-facts.sql.ts';
import { computeStatement, type Stated, type Statement } from './compute-statement.ts';
import type { About } from './entry.ts';
import { matchState } from './match-state.ts';
import { entrySheet } from './statement.ts';
import { linesWithRows } from './statement-lines.ts';
import { placeInBooks, shownRow } from './statement-rows.ts';

/** A payout as the run left it: its state at the cut, and the transfer shown for it. */
type Row = {
  payout: StatedPayout;
  stated: Stated;
  about: About;
  state: PayoutState;
  late: boolean;
  listed: ListedPart | null;
};

const payoutSheet = sheetOf<Row>({
  reference: ({ payout }) => payout.reference,
  batch: ({ payout }) => payout.batch_id,
  row: ({ payout }) => payout.row_number.toString(),
  account_number: ({ payout }) => payout.account_number,
  account_name: ({ payout }) => payout.account_name,
  bank_code: ({ payout }) => payout.bank_code,
  amount: ({ payout }) => money(payout.amount, payout.currency),
  currency: ({ payout }) => payout.currency,
  payout_state: ({ state }) => state,
  match_state: ({ about: { mode }, ...row }) => matchState({ mode, ...row }),
  transfer_id: ({ payout }) => payout.transfer_id ?? '',
  trx: ({ payout }) => payout.trx ?? '',
  fee: ({ payout }) => payout.fee ?? '',
  service_status: ({ listed }) => listed?.status ?? '',
  service_amount: ({ listed }) => (listed ? serviceAmount(listed) : ''),
  submitted_at: ({ payout, about }) => zonedOr(payout.submitted_at, about),
  settled_at: ({ payout, about }) => zonedOr(payout.settled_at, about),
  evidence: ({ payout }) => payout.evidence,
  lines: ({ stated }) => bigLines(stated),
});

/** Computes payouts.csv and the statement of a run in one walk, so that both describe the same moment and rows. */
export function createFreezeBooks(deps: { ledger: Ledger; config: Config; words: FrozenWords }) {
  const { ledger, config, words } = deps;
  const zone = config.reports.timezone;
  const show = (instant: string): string => zoned(instant, zone);

  /** The scope of a run's statement: from the end of the last closed month, else the ledger's beginning (P30). */
  async function aboutRun(run: Run, { mode, through }: RunScope): Promise<About> {
    const closed = await lastPeriod(ledger.db);
    return {
      mode,
      span: { from: closed?.through_history ?? 0n, through },
      known: through,
      listing: listingOf(run, config.reconciliation.missingGraceMinutes),
      since: config.reconciliation.since || ledger.birth,
      until: null,
      show,
      words,
    };
  }

  /** Stores payouts and statement rows under the number `since`; gives the verdicts and the rows of statement.csv, which mark the whole when stored. */
  return async function freezeBooks(run: Run, scope: RunScope, since: bigint): Promise<Statement> {
    const about = await aboutRun(run, scope);
    const store = (sheet: string, rows: PlacedRow[]): Promise<void> =>
      ledger.write((trx) => addSheetRows(trx, since, sheet, rows));
    await store('payouts', placedFrom(0, [payoutSheet.header]));
    await store('statement-rows', placedFrom(0, [entrySheet.header]));
    return computeStatement(ledger.db, about, {
      async payouts(page) {
        await store(
          'payouts',
          page.flatMap((stated) => payoutRows(stated, about)),
        );
      },
      rows: (placed) => store('statement-rows', placed),
    });
  };
}

/** The row of payouts.csv, placed by the payout's id, so that runs share it; none for a payout taken in after the cut. */
function payoutRows(stated: Stated, about: About): PlacedRow[] {
  const { payout } = stated.facts;
  const { state, late } = placeInBooks(stated.facts, about, stated.course);
  if (state === null) return [];
  const listed = shownRow(stated.facts, about.mode);
  return [{ position: payout.id, cells: payoutSheet.cells({ payout, stated, about, state, late, listed }) }];
}

/** Which lines without rows of their own count this payout (`submitted+settled`); a minus where one takes it back. */
function bigLines({ entries }: Stated): string {
  const big = entries.filter(({ line }) => !linesWithRows.includes(line));
  return big.map(({ line, count }) => (count < 0n ? `-${line}` : line)).join('+');
}

const zonedOr = (instant: string | null, { show }: About): string => (instant === null ? '' : show(instant));

function serviceAmount({ amount, amount_text, currency }: ListedPart): string {
  return amount === null ? amount_text : money(amount, currency);
}
