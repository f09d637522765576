import { z } from 'zod';
import { batchStateShape, byState, count, decimal, instant, map, payoutStateShape, totals } from './parts.ts';

const sum = z.strictObject({ count: count.describe('payouts'), amount: decimal.describe('their total') });

export const listedPayoutShape = z.strictObject({
  reference: z.string(),
  state: payoutStateShape,
  currency: z.string().describe('ISO 4217'),
  amount: decimal,
  account_name: z.string().describe('the beneficiary'),
  account_number: z.string().describe('masked but for its last four digits; whole with --full-accounts'),
  bank_code: z.string(),
  batch: z.string(),
  row: count.describe('the row in the file of the batch; the header is row 1'),
  transfer_id: z.string().nullable().describe('the transfer at the service'),
  trx: z.string().nullable().describe('the transaction at the service'),
  fee: z.string().nullable().describe('as the service reports it'),
  message: z.string().nullable().describe('the last message about it'),
  evidence: z.string().describe('the sources that agree with the state, joined by +'),
  taken_in_at: instant.nullable().describe('when it was recorded; null while its batch is loading'),
  submitted_at: instant.nullable(),
  settled_at: z.string().nullable().describe('as the service reports it'),
  updated_at: instant.describe('the last change of the payout'),
});
export type ListedPayoutJson = z.input<typeof listedPayoutShape>;

/** What `payouts --json` prints. */
export const payoutsShape = z.strictObject({
  payouts: z.array(listedPayoutShape).describe('the newest first, at most --limit'),
  matching: count.describe('how many payouts match, listed or not'),
  totals: map(sum.extend({ states: byState(sum).describe('the same by state') })).describe(
    'of all that match, by currency',
  ),
});
export type PayoutsJson = z.input<typeof payoutsShape>;

export const listedBatchShape = z.strictObject({
  batch: z.string(),
  file: z.string().describe('the name of the file'),
  state: batchStateShape,
  taken_in_at: instant,
  dropped_by: z.string().describe('the account of the person who brought the file'),
  rows: count,
  payouts: byState(count).describe('payouts by how they count'),
  totals: totals.describe('amounts of the rows of the file, by currency'),
  paid: map(sum).describe('payouts in success'),
  open: map(sum).describe('payouts that may still be paid'),
  hold_reasons: z.array(z.string()).describe('why a held batch waits'),
});
export type ListedBatchJson = z.input<typeof listedBatchShape>;

/** What `batches --json` prints. */
export const batchesShape = z.strictObject({
  batches: z.array(listedBatchShape).describe('the newest first'),
});

export const payeeShape = z.strictObject({
  account_number: z.string().describe('masked but for its last four digits; whole with --full-accounts'),
  bank_code: z.string(),
  currency: z.string().describe('ISO 4217'),
  names: z.array(z.string()).describe('every name under which it was paid'),
  payee_ids: z.array(z.string()).describe('every payee_id under which it was paid'),
  first_paid_at: instant,
  last_paid_at: instant,
  paid: count.describe('payouts in success'),
  returned: count.describe('payouts that came back after success'),
  batches: count.describe('batches that paid it'),
});

/** What `payees --json` prints. */
export const payeesShape = z.strictObject({
  payees: z.array(payeeShape).describe('in the order of their accounts, at most --limit'),
});
