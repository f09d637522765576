import type { DiscrepancyKind } from '../../src/core/domain/discrepancy-kinds.ts';
import type { ListedTransfer } from '../../src/core/domain/listed-transfer.ts';

/** Everything wrong that a list can show of a payout, or of a stranger. */
export const planted = [
  'missing_at_service',
  'missing_in_ledger',
  'status_conflict',
  'amount_conflict',
  'currency_conflict',
  'beneficiary_conflict',
  'fee_conflict',
  'mode_conflict',
  'duplicate_at_service',
  'paid_twice',
  'reference_collision',
  'stale_pending',
  'returned_after_success',
] as const satisfies readonly DiscrepancyKind[];
export type Planted = (typeof planted)[number];

/** What no later word of the service takes back. */
export const lasting: readonly Planted[] = ['returned_after_success'];
/** What can come back after it was healed. */
export const returning: readonly Planted[] = [
  'missing_at_service',
  'amount_conflict',
  'currency_conflict',
  'beneficiary_conflict',
  'fee_conflict',
  'mode_conflict',
  'duplicate_at_service',
  'paid_twice',
];

/** The rows that the service shows for a payout with this wrong, from the row it would rightly show. */
export function wrongRows(kind: Planted, row: ListedTransfer, otherId: string): ListedTransfer[] {
  switch (kind) {
    case 'missing_at_service':
      return [];
    case 'missing_in_ledger':
      return [{ ...row, reference: `STRANGER-${row.id}`, account_number: '9876543210' }];
    case 'status_conflict':
      return [{ ...row, status: 'success' }];
    case 'amount_conflict':
      return [{ ...row, amount: '9.00' }];
    case 'currency_conflict':
      return [{ ...row, currency: 'ZAR' }];
    case 'beneficiary_conflict':
      return [{ ...row, account_number: '1111111111' }];
    case 'fee_conflict':
      return [{ ...row, fee: '2.00' }];
    case 'mode_conflict':
      return [{ ...row, domain: 'live' }];
    case 'duplicate_at_service':
    case 'paid_twice':
      return [row, { ...row, id: otherId, trx: `TRX${otherId}` }];
    case 'reference_collision':
      return [{ ...row, amount: '11.00' }];
    case 'stale_pending':
      return [{ ...row, status: 'pending' }];
    case 'returned_after_success':
      return [{ ...row, status: 'reversed' }];
  }
}

/** The rows once it is healed. */
export function healedRows(kind: Planted, row: ListedTransfer, otherId: string): ListedTransfer[] {
  switch (kind) {
    case 'missing_in_ledger':
      return [];
    case 'status_conflict':
      return [{ ...row, status: 'failed' }];
    case 'paid_twice':
      return [row, { ...row, id: otherId, trx: `TRX${otherId}`, status: 'failed' }];
    case 'returned_after_success':
      return wrongRows(kind, row, otherId);
    default:
      return [row];
  }
}
