/** The columns of `listed` that a transfer is judged by. */
export const judgedColumns = [
  'transfer_id',
  'trx',
  'reference',
  'currency',
  'amount',
  'amount_text',
  'fee',
  'account_number',
  'bank_code',
  'domain',
  'status',
  'created_at',
  'updated_at',
] as const;

/** All that hold what the service shows of it. */
export const shownColumns = [...judgedColumns, 'reference_key', 'account_name'] as const;
