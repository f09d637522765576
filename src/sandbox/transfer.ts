import type {
  BankTransferRequest,
  FilteredTransferRecord,
  TransferRecord,
  WireDomain,
} from '../core/service/wire.ts';
import { feeFor } from './amounts.ts';
import { type Random, randomText } from './random.ts';

/**
 * A transfer as the service keeps it: what it shows, and beside it what is true. `mode` is the mode of the key that
 * ordered it, even if `domain` differs. `moneyMoved`: money left. `returned`: it came back later.
 */
export type BookedTransfer = TransferRecord & { mode: WireDomain; moneyMoved: boolean; returned: boolean };

const bankNames: Readonly<Record<string, string>> = {
  '000004': 'United Bank for Africa',
  '000013': 'GTBank Plc',
  '000014': 'Access Bank',
  '000015': 'Zenith Bank Plc',
  '000016': 'First Bank of Nigeria',
  '058': 'GTBank Plc',
  '250655': 'First National Bank',
  '632005': 'Absa Bank',
  '051001': 'Standard Bank',
};

/** Makes the identifiers of banks and of the service that a transfer carries. */
export function createIdentifiers(random: Random) {
  const digits = (length: number): string => randomText(random, length, '0123456789');
  return {
    trx: (id: number): string => `TRX${id}${randomText(random, 8, 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789')}`,
    transactionRef: (): string => `FT${digits(12)}`,
    sessionid: (): string => digits(30),
  };
}

/** A new pending transfer for an accepted order; no money has moved yet. */
export function transferOf(
  order: BankTransferRequest,
  made: { id: number; trx: string; mode: WireDomain; at: string },
): BookedTransfer {
  return {
    id: made.id,
    trx: made.trx,
    reference: order.reference,
    transactionRef: null,
    sessionid: null,
    currency: order.currency,
    amount: order.amount,
    fee: feeFor(order.currency, order.amount),
    account_name: order.account_name,
    account_number: order.account_number,
    bank_name: bankNames[order.bank_code] ?? `Bank ${order.bank_code}`,
    bank_code: order.bank_code,
    narration: order.narration,
    domain: made.mode,
    status: 'pending',
    created_at: made.at,
    updated_at: made.at,
    mode: made.mode,
    moneyMoved: false,
    returned: false,
  };
}

/** The record in the list of all transfers and in the details, without the book's private fields. */
export function fullRecord(transfer: BookedTransfer): TransferRecord {
  const { mode: _mode, moneyMoved: _moneyMoved, returned: _returned, ...record } = transfer;
  return record;
}

/** The record of the list of one status: three fields are absent ("Resources and their fields"). */
export function filteredRecord(transfer: BookedTransfer): FilteredTransferRecord {
  const { transactionRef: _ref, sessionid: _session, domain: _domain, ...record } = fullRecord(transfer);
  return record;
}
