/** The columns of `listed` that hold what the service shows of a transfer. */
export const shownColumns = [
  'transfer_id',
  'trx',
  'reference',
  'reference_key',
  'currency',
  'amount',
  'amount_text',
  'fee',
  'account_name',
  'account_number',
  'bank_code',
  'domain',
  'status',
  'created_at',
  'updated_at',
] as const;
