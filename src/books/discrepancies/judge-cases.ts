import { type FoundDiscrepancy, finding } from '../../core/domain/discrepancy.ts';
import { foldReference } from '../../core/domain/ids.ts';
import {
  isKnownAs,
  type Origin,
  originText,
  type Standpoint,
  whyElsewhere,
} from '../../core/domain/origin.ts';
import {
  type ListedRow,
  ofPayout,
  type PairedPayout,
  transferIdsOf,
} from '../../core/domain/pair-conflicts.ts';
import { sentOnlyElsewhere } from '../../core/ledger/origins.ts';
import type { Db } from '../../core/storage/ledger.ts';
import { classifyPair, foreignTransfer, type ListJudgement } from './classify.ts';
import type { PairCase } from './pair-cases.sql.ts';

export type JudgedPayout = ListJudgement & { payout: PairedPayout };

/**
 * Judges payouts against what a run listed of them. For a payout sent from another account than the listed one, only the
 * transfer that it was accepted as counts (P31). `standpoint`: the account of the list; absent where there is only one.
 */
export async function judgeCases(
  db: Db,
  standpoint: Standpoint | undefined,
  cases: readonly PairCase[],
  complete: boolean | 'window',
): Promise<JudgedPayout[]> {
  const ids = cases.map(({ payout }) => payout.id);
  const elsewhere = standpoint
    ? await sentOnlyElsewhere(db, ids, standpoint.account)
    : new Map<bigint, Origin>();
  return cases.map(({ payout, rows }) => {
    const went = elsewhere.get(payout.id);
    if (!went || !standpoint) return { payout, ...classifyPair(payout, rows, complete) };
    const ours = rows.filter((row) => isOurTransfer(payout, row));
    const judged = ours.length > 0 ? classifyPair(payout, ours, complete) : { witness: null, found: [] };
    const others = rows.filter((row) => !ours.includes(row));
    return { payout, ...judged, found: [...judged.found, ...ofOthers({ payout, went, standpoint }, others)] };
  });
}

/** Each account may number its transfers from the same start, so the reference must match too. */
function isOurTransfer(payout: PairedPayout, row: ListedRow): boolean {
  return isNamed(payout, row) && isKnownAs(payout, { transferId: row.transfer_id, trx: row.trx });
}

function isNamed(payout: PairedPayout, row: ListedRow): boolean {
  return foldReference(row.reference) === payout.referenceKey;
}

type Elsewhere = { payout: PairedPayout; went: Origin; standpoint: Standpoint };

function ofOthers({ payout, went, standpoint }: Elsewhere, rows: readonly ListedRow[]): FoundDiscrepancy[] {
  const [named] = rows.filter((row) => isNamed(payout, row));
  const foreign = rows.filter((row) => !isNamed(payout, row)).map(foreignTransfer);
  if (!named) return foreign;
  const fields = {
    ...ofPayout(payout),
    ...transferIdsOf(named),
    expected: `origin ${originText(went)}`,
    actual: `origin ${originText(standpoint.account.own)}`,
    difference: '',
    moved: true,
    evidence: `listed as transfer ${named.transfer_id}, ${named.status}; ledger: ${payout.state} by ${payout.evidence || 'nothing yet'}; ${whyElsewhere(went, standpoint.account)}`,
  };
  return [finding('reference_collision', payout.reference, fields, { otherAccount: true }), ...foreign];
}
