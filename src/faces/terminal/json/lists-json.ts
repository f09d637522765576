import { z } from 'zod';
import { payoutStates, replacedStates } from '../../../core/domain/payout.ts';

/** A decimal with the currency's digits, such as `1500.00`. */
export const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
/** An instant in UTC, ISO 8601. */
export const instant = z.iso.datetime();
export const payoutStateJson = z.enum(payoutStates);
/** How a payout counts: its state, unless a successor pays it again. */
const countedStateJson = z.enum([...payoutStates, ...replacedStates]);

const sum = z.strictObject({ count: z.int().describe('payouts'), amount: decimal.describe('their total') });
const byCurrency = <T extends z.ZodType>(value: T) => z.record(z.string(), value);

export const listedPayout = z.strictObject({
  reference: z.string(),
  state: payoutStateJson,
  currency: z.string().describe('ISO 4217'),
  amount: decimal,
  account_name: z.string().describe('the beneficiary'),
  account_number: z.string().describe('masked but for its last four digits; whole with --full-accounts'),
  bank_code: z.string(),
  batch: z.string(),
  row: z.int().describe('the row in the file of the batch; the header is row 1'),
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
export type ListedPayoutJson = z.infer<typeof listedPayout>;

/** What `payouts --json` prints. */
export const payoutsJson = z.strictObject({
  schema: z.literal(1),
  payouts: z.array(listedPayout).describe('the newest first, at most --limit'),
  matching: z.int().describe('how many payouts match, listed or not'),
  totals: byCurrency(
    sum.extend({ states: z.partialRecord(countedStateJson, sum).describe('the same by state') }),
  ).describe('of all that match, by currency'),
});
export type PayoutsJson = z.infer<typeof payoutsJson>;

const listedBatch = z.strictObject({
  batch: z.string(),
  file: z.string().describe('the name of the file'),
  state: z.enum(['loading', 'held', 'ready', 'sending', 'sent', 'done', 'cancelled']),
  taken_in_at: instant,
  dropped_by: z.string().describe('the account of the person who brought the file'),
  rows: z.int(),
  payouts: z.partialRecord(countedStateJson, z.int()).describe('payouts by how they count'),
  totals: byCurrency(decimal).describe('amounts of the rows of the file, by currency'),
  paid: byCurrency(sum).describe('payouts in success'),
  open: byCurrency(sum).describe('payouts that may still be paid'),
  hold_reasons: z.array(z.string()).describe('why a held batch waits'),
});
export type ListedBatchJson = z.infer<typeof listedBatch>;

/** What `batches --json` prints. */
export const batchesJson = z.strictObject({
  schema: z.literal(1),
  batches: z.array(listedBatch).describe('the newest first'),
});
