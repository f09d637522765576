import { decimalDifference, type FoundDiscrepancy, type FoundFields, finding } from './discrepancy.ts';
import type { DiscrepancyKind } from './discrepancy-kinds.ts';
import type { Fees } from './fees.ts';
import type { ListedTransfer } from './listed-transfer.ts';
import { formatMinor } from './money.ts';
import { isFinalState, type PayoutState } from './payout.ts';
import { couldBeOurs, type ExpectedTransfer, isBeneficiary } from './witness.ts';

export type PairedPayout = ExpectedTransfer &
  Fees & {
    id: bigint;
    batchId: string;
    state: PayoutState;
    evidence: string;
    /** The first run that saw this paid payout as failed, while that is not sure (P36). */
    turnedRun: string | null;
    /** It came back after the list was begun, which may show the success before. */
    cameBackSince: boolean;
    /** POSTs of ours, also those that the service refused or turned away: what it shows may refute its word. */
    sends: number;
    /** Those of them that it may have taken, by its answers (P17). */
    possiblyTaken: number;
    /** A lost ledger may have sent it more often than this one can count (P25). */
    forgotten: boolean;
  };

/** A listed transfer as staged; `amount` is null where its text is not a decimal of its currency. */
export type ListedRow = Omit<ListedTransfer, 'id' | 'amount' | 'account_name'> & {
  transfer_id: string;
  amount: bigint | null;
  amount_text: string;
};

/** What a listed transfer may contradict of its payout. */
export const pairConflictKinds = [
  'status_conflict',
  'amount_conflict',
  'currency_conflict',
  'beneficiary_conflict',
  'mode_conflict',
  'reference_collision',
] as const satisfies readonly DiscrepancyKind[];
type PairConflictKind = (typeof pairConflictKinds)[number];

/** True if all that {@link conflicts} compares agrees; checked first, since nearly every pair agrees. */
function agrees(payout: PairedPayout, row: ListedRow): boolean {
  return (
    row.amount === payout.amount &&
    row.currency.toUpperCase() === payout.currency &&
    isBeneficiary(row, payout) &&
    (row.domain === null || row.domain.toLowerCase() === payout.mode) &&
    !isTooEarly(payout, row)
  );
}

/** The differences between a listed transfer and its payout; empty if all that the list shows agrees (P13). */
export function conflicts(payout: PairedPayout, row: ListedRow): FoundDiscrepancy[] {
  if (agrees(payout, row)) return [];
  const fields = { ...ofPayout(payout), ...transferIdsOf(row) };
  const differing: { kind: PairConflictKind; expected: string; actual: string; difference: string }[] = [];
  const add = (kind: PairConflictKind, expected: string, actual: string, difference = ''): void => {
    differing.push({ kind, expected, actual, difference });
  };
  const ours = formatMinor(payout.amount, payout.currency);
  if (row.currency.toUpperCase() !== payout.currency) add('currency_conflict', payout.currency, row.currency);
  else if (row.amount !== payout.amount) {
    add('amount_conflict', ours, row.amount_text, decimalDifference(row.amount_text, ours));
  }
  if (!isBeneficiary(row, payout)) {
    const expected = `${payout.bankCode}/${payout.accountNumber}`;
    add('beneficiary_conflict', expected, `${row.bank_code}/${row.account_number}`);
  }
  if (row.domain !== null && row.domain.toLowerCase() !== payout.mode)
    add('mode_conflict', payout.mode, row.domain);
  const neverSent = isNeverSent(payout);
  const tooEarly = isTooEarly(payout, row);
  const evidence = `listed as transfer ${row.transfer_id}, ${row.status}; ledger: ${payout.state} by ${payout.evidence || 'nothing yet'}`;
  if (payout.accepted) {
    return differing.map(({ kind, ...rest }) =>
      finding(kind, payout.reference, { ...fields, ...rest, moved: true, evidence }),
    );
  }
  const early = {
    expected: neverSent ? 'never sent' : `created after ${payout.firstIntentAt}`,
    actual: `created ${row.created_at}`,
  };
  const all = tooEarly ? [...differing, early] : differing;
  const joined = (side: 'expected' | 'actual'): string => all.map((one) => one[side]).join('; ');
  const difference = differing.find((one) => one.difference !== '')?.difference ?? '';
  return [
    finding('reference_collision', payout.reference, {
      ...fields,
      expected: joined('expected'),
      actual: joined('actual'),
      difference,
      moved: true,
      evidence,
    }),
  ];
}

/** True where nothing was sent from here, and no person recorded a payment by other means (P32). */
function isNeverSent({ firstIntentAt, accepted, state }: PairedPayout): boolean {
  return firstIntentAt === null && !accepted && !isFinalState(state);
}

function isTooEarly(payout: PairedPayout, row: ListedRow): boolean {
  return isNeverSent(payout) || !couldBeOurs(row.created_at || null, payout);
}

/** The money that the ledger shows as paid and the service not, or the other way round; empty while it has not ended. */
export function misplaced(
  { amount, currency, state }: Pick<PairedPayout, 'amount' | 'currency' | 'state'>,
  shown: PayoutState,
): string {
  if (!isFinalState(shown) || (state === 'success') === (shown === 'success')) return '';
  return formatMinor(shown === 'success' ? amount : -amount, currency);
}

export type ConflictIdentity = Pick<
  FoundFields,
  'payoutId' | 'batchId' | 'reference' | 'trx' | 'transferId' | 'currency'
>;

export function transferIdsOf(row: ListedRow): Pick<FoundFields, 'trx' | 'transferId' | 'shownAt'> {
  return { trx: row.trx, transferId: row.transfer_id, shownAt: row.created_at };
}

export function ofPayout(payout: PairedPayout): ConflictIdentity {
  const { id, batchId, reference, trx, transferId, currency } = payout;
  return { payoutId: id, batchId, reference, trx, transferId, currency };
}
