import type { StagedTransfer } from '../../src/core/domain/listed-transfer.ts';

/** Transfer `n` as a list shows it: 10.00 NGN to an account of ours, settled, under the reference `ACME-n`. */
export function listedRow(n: number, other: Partial<StagedTransfer> = {}): StagedTransfer {
  return {
    id: String(n),
    trx: `TRX${n}`,
    reference: `ACME-${n}`,
    currency: 'NGN',
    amount: '10.00',
    fee: '1.00',
    account_name: 'A',
    account_number: '0123456789',
    bank_code: '058',
    domain: 'test',
    status: 'success',
    created_at: '2026-11-21T10:00:00.500000Z',
    updated_at: '2026-11-21T10:05:00.000000Z',
    ...other,
  };
}
