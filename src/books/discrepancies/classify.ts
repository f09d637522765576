import { type FoundDiscrepancy, finding } from '../../core/domain/discrepancy.ts';
import { nameFee } from '../../core/domain/fees.ts';
import { foldReference } from '../../core/domain/ids.ts';
import { formatMinor } from '../../core/domain/money.ts';
import { lacksTransfers } from '../../core/domain/outcome.ts';
import {
  type ConflictIdentity,
  conflicts,
  type ListedRow,
  misplaced,
  ofPayout,
  type PairedPayout,
  transferIdsOf,
} from '../../core/domain/pair-conflicts.ts';
import { isFinalState, restsOn, type WitnessStatus } from '../../core/domain/payout.ts';
import { restsOnPerson } from '../../core/domain/transition.ts';
import { readStatus, type Witness } from '../../core/domain/witness.ts';

/** What the listing does to a payout: the witness to record, if any, and every discrepancy that it shows. */
export type ListJudgement = {
  witness: Witness | null;
  found: FoundDiscrepancy[];
  /** The list shows this paid payout as failed: it may have come back (P36). */
  turned?: Witness;
};

/**
 * Judges one payout against every listed transfer that carries its reference, transfer id or trx (P13-P15, P17).
 * `complete`: the list is proven complete, so it shows all transfers. `window`: it shows all of this payout.
 */
export function classifyPair(
  payout: PairedPayout,
  rows: ListedRow[],
  complete: boolean | 'window' = false,
): ListJudgement {
  const judged = rows.map((row) => ({ row, conflicts: conflicts(payout, row) }));
  // Where a row names our reference, one that bears the answered id under another may be a stranger with the same
  // number.
  const named = judged.filter(({ row }) => foldReference(row.reference) === payout.referenceKey);
  const own = (named.length > 0 ? named : judged).find(({ row }) => row.transfer_id === payout.transferId);
  const agreeing = judged.filter(({ conflicts: c }) => c.length === 0).map(({ row }) => row);
  // P28: where the list may lack its own transfer, another of its reference proves only that money may have left.
  const partial = complete === false && payout.transferId !== null && !own;
  const found = (
    own ? [own] : judged.length === 1 || agreeing.length === 0 ? judged.slice(0, 1) : []
  ).flatMap(({ conflicts: c }) => c);
  // Paired by a number alone, and unlike this payout: another's transfer, which makes ours no second one.
  const unlike = judged.filter((one) => !named.includes(one) && one.conflicts.length > 0);
  const strangers = named.length > 0 ? unlike.map(({ row }) => row) : [];
  const ofOurs = rows.filter((row) => !strangers.includes(row));
  found.push(...strangers.map(foreignTransfer), ...duplicates(payout, ofOurs));
  const silent = { witness: null, found };
  const speaking = own && own.conflicts.length > 0 ? [] : agreeing;
  const status = speaking.length > 0 ? together(speaking, rows) : null;
  // Those that agree settle nothing, because another transfer stands. Report it: only a person can decide this.
  if (speaking.length > 0 && status === null && found.length === 0)
    found.push(...judged.flatMap(({ row, conflicts: c }) => (isOver(readStatus(row.status)) ? [] : c)));
  const unread = status === null ? speaking.find(isUnread) : undefined;
  if (unread && (payout.state === 'refused' || isFinalState(payout.state)))
    found.push(contradiction(payout, unread, unread.status, ''));
  const saying = speaking.filter((one) => readStatus(one.status) === status);
  const row = saying.find((one) => one === own?.row) ?? saying[0] ?? own?.row ?? speaking[0];
  if (!row || !status || (partial && isOver(status))) return silent;
  const witness = toWitness(row, status);
  if (isOver(status)) witness.shown = rows.map(({ transfer_id }) => transfer_id);
  if (complete === true && isOver(status) && speaking.length === rows.length) witness.transfers = rows.length;
  const conflict = statusConflict(payout, row, status, witness.transfers);
  if (conflict) found.push(conflict);
  const paid = payout.state === 'success' && !restsOnPerson(payout.evidence);
  if (paid && status === 'failed') return { ...silent, turned: witness };
  if (!mayBecome(payout, status)) return silent;
  const fees = nameFee(payout, 'listing', row.fee);
  const saysFee = fees.fee !== payout.fee || fees.other_fees !== payout.other_fees;
  const news =
    (payout.state !== status && payout.state !== 'returned') ||
    payout.turnedRun !== null ||
    saysFee ||
    !restsOn(payout.evidence, 'listing');
  return news ? { witness, found } : silent;
}

/** A listed transfer that no payout of ours explains. */
export function foreignTransfer(row: ListedRow): FoundDiscrepancy {
  const paid = readStatus(row.status) !== 'failed';
  return finding('missing_in_ledger', `transfer:${row.transfer_id}`, {
    ...ofRow(row),
    payoutId: null,
    batchId: null,
    expected: 'no such payout in the ledger',
    actual: [row.status || 'no status', row.amount_text || 'no amount', row.currency].join(' ').trim(),
    difference: paid && row.amount !== null ? formatMinor(row.amount, row.currency) : '',
    moved: paid,
    shownAt: row.created_at,
    evidence: `listed as transfer ${row.transfer_id}, created ${row.created_at || 'at an unreadable time'}`,
  });
}

/** True where the witness's status is one that the payout may take or already has, so that the ledger may record it. */
function mayBecome({ state, evidence }: PairedPayout, status: WitnessStatus): boolean {
  if (state === 'cancelled') return false;
  if (!isFinalState(state) || state === status || restsOnPerson(evidence)) return true;
  if (state === 'returned') return status === 'failed';
  return state === 'success' && status === 'returned';
}

/**
 * The status that several transfers under one reference show together. One success is a success. Other statuses that
 * disagree show only that money may have left. Nothing failed or came back while any row of the reference still stands,
 * even one that differs from our payout.
 */
function together(speaking: ListedRow[], all: ListedRow[]): WitnessStatus | null {
  const statuses = speaking.map((row) => readStatus(row.status));
  const [first = null] = statuses;
  if (statuses.includes('success')) return 'success';
  if (statuses.every(isOver)) {
    if (!all.every((row) => isOver(readStatus(row.status)))) return null;
    return statuses.includes('returned') ? 'returned' : first;
  }
  return statuses.every((status) => status === first) ? first : 'pending';
}

function isOver(status: WitnessStatus | null): boolean {
  return status === 'failed' || status === 'returned';
}

/**
 * Two transfers after one POST are the service's doing. After a second POST of ours they are paid twice (P17), whatever the
 * service answered to the first: a 429 although the order was taken is shown here only (P8).
 */
function duplicates(payout: PairedPayout, rows: ListedRow[]): FoundDiscrepancy[] {
  if (rows.length < 2) return [];
  const standing = rows.filter((row) => !isOver(readStatus(row.status)));
  const twice = payout.sends > 1 || payout.forgotten;
  if (twice && standing.length < 2 && rows.length <= payout.sends) return [];
  const told = rows.map((row) => `${row.transfer_id} ${row.status} ${row.amount_text}`).join(', ');
  const kind = twice && standing.length > 1 ? 'paid_twice' : 'duplicate_at_service';
  const fields = {
    ...ofPayout(payout),
    expected: '1 transfer',
    actual: `${rows.length} transfers`,
    difference: excess(payout, standing),
    moved: standing.length > 1,
    evidence: `${payout.sends > 1 ? `sent ${payout.sends} times; ` : ''}listed under this reference: ${told}`,
  };
  return [finding(kind, payout.reference, fields, { transfers: rows.length })];
}

/** The sum of the standing transfers beyond the one that was ordered; empty where they cannot be summed. */
function excess({ amount, currency }: PairedPayout, standing: ListedRow[]): string {
  if (standing.length === 0 || standing.some((row) => row.currency.toUpperCase() !== currency)) return '';
  let sum = 0n;
  for (const row of standing) {
    if (row.amount === null) return '';
    sum += row.amount;
  }
  return formatMinor(sum - amount, currency);
}

function statusConflict(
  payout: PairedPayout,
  row: ListedRow,
  status: WitnessStatus,
  transfers: number | undefined,
): FoundDiscrepancy | null {
  const decided = isFinalState(payout.state);
  const reopens = payout.state === 'refused' || (decided && restsOnPerson(payout.evidence));
  if (payout.state === status || (!reopens && (status === 'pending' || !decided))) return null;
  // P17: another send may still be paid, also where the list may lack it, so that `transition` keeps the success.
  const lacks = !reopens && lacksTransfers(payout, { transfers });
  if (payout.state === 'success' && status === 'returned' && !lacks) return null;
  // P36: the service shows a return as failed. A list begun before the return may show the success before it.
  if (payout.state === 'returned' && (status === 'failed' || payout.cameBackSince)) return null;
  return contradiction(payout, row, status, misplaced(payout, status));
}

/** An unfamiliar status: for a payout that has ended, it may mean that the money is elsewhere. */
function isUnread({ status }: ListedRow): boolean {
  return status.trim() !== '' && readStatus(status) === null;
}

function contradiction(
  payout: PairedPayout,
  row: ListedRow,
  actual: string,
  difference: string,
): FoundDiscrepancy {
  return finding('status_conflict', payout.reference, {
    ...ofPayout(payout),
    ...transferIdsOf(row),
    expected: payout.state,
    actual,
    difference,
    moved: true,
    evidence: `ledger: ${payout.state} by ${payout.evidence || 'nothing'}; listed as transfer ${row.transfer_id}, ${row.status}`,
  });
}

function toWitness(row: ListedRow, status: WitnessStatus): Witness {
  return {
    source: 'listing',
    status,
    transferId: row.transfer_id,
    trx: row.trx,
    fee: row.fee,
    message: null,
    settledAt: status === 'pending' || row.updated_at === '' ? null : row.updated_at,
  };
}

function ofRow(row: ListedRow): Pick<ConflictIdentity, 'reference' | 'trx' | 'transferId' | 'currency'> {
  return { reference: row.reference, trx: row.trx, transferId: row.transfer_id, currency: row.currency };
}
