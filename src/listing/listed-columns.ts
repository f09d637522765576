/** What a transfer shows, as the columns of `listed` that hold it. */
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
