import { z } from 'zod';
import { jsonShapes } from '../../core/shapes/json-shapes.ts';
import { payeeShape, payoutsShape } from '../../core/shapes/list-shapes.ts';
import { payoutStateShape, text } from '../../core/shapes/parts.ts';
import { listOf, lookup, type Operation, order, paging } from './operation.ts';

const payoutParams = z.object({ reference: z.string() });

const filters = paging.extend({
  state: payoutStateShape.optional(),
  batch: z.string().optional().describe('its whole name'),
  currency: z
    .string()
    .regex(/^[A-Za-z]{3}$/)
    .optional()
    .describe('ISO 4217'),
  bank: z.string().optional().describe('the bank code'),
  since: z.string().optional().describe('taken in then or later: a day or an instant, ISO 8601'),
  reference: z.string().optional().describe('how the reference begins'),
  accounts: z.enum(['masked', 'whole']).default('masked').describe('how account numbers are shown'),
});

const evidence = z.string().optional();

const payoutPage = payoutsShape.partial({ matching: true, totals: true }).extend({
  next: text
    .nullable()
    .describe('for `after`; null at the end. `matching` and `totals` stand on the first page'),
});

export const payoutOperations = {
  listPayouts: {
    ...lookup,
    path: '/payouts',
    does: 'Payouts that match, the newest first, with the totals of all that match.',
    right: 'read',
    query: filters,
    answers: {
      200: { does: 'A page of payouts.', shape: payoutPage },
    },
  },
  listPayees: {
    ...lookup,
    path: '/payees',
    does: 'The accounts that were paid before, with every name under which they were, in the order of the accounts.',
    right: 'read',
    query: paging.extend({
      changed: z
        .enum(['true', 'false'])
        .default('false')
        .describe('only those whose account or name changed'),
      accounts: filters.shape.accounts,
    }),
    answers: { 200: { does: 'A page of payees.', shape: listOf('payees', payeeShape) } },
  },
  getPayout: {
    ...lookup,
    path: '/payouts/{reference}',
    does: 'The whole story of one payout, each fact with its source and time.',
    right: 'read',
    params: payoutParams,
    query: z.object({ accounts: filters.shape.accounts }),
    answers: { 200: { does: 'Its story.', shape: jsonShapes.show.shape } },
  },
  retryPayout: {
    ...order,
    orders: 'retry',
    path: '/payouts/{reference}/retry',
    does: 'Orders it again: an unknown one under the same reference, one that came to nothing as a successor. The service is asked first.',
    right: 'decide',
    params: payoutParams,
    body: z.strictObject({
      evidence: evidence.describe(
        'the digest of the evidence that the person read (P20); without it nothing is decided: 422 `evidence_needed` has the evidence and its digest',
      ),
    }),
    answers: { 200: { does: 'The evidence, and what was decided.', shape: jsonShapes.retry.shape } },
  },
  settlePayout: {
    ...order,
    orders: 'settle',
    path: '/payouts/{reference}/settle',
    does: "A person's decision on a payout that evidence has not made final (P32). The service is asked first; later evidence reopens it.",
    right: 'decide',
    params: payoutParams,
    body: z.strictObject({
      as: z.enum(['paid', 'not-paid']),
      note: z.string().trim().min(1).max(2000).describe('how the person knows'),
      evidence: evidence.describe(
        'the digest of the evidence that the person read (P20); without it what the service says now counts',
      ),
    }),
    answers: { 200: { does: 'The evidence, and what was settled.', shape: jsonShapes.settle.shape } },
  },
  resendPayout: {
    ...order,
    orders: 'resend',
    path: '/payouts/{reference}/resend',
    does: 'Asks the service to send its webhook again, inside the throttle.',
    right: 'decide',
    params: payoutParams,
    answers: { 200: { does: 'What the service answered.', shape: jsonShapes.resend.shape } },
  },
  cancelPayout: {
    ...order,
    orders: 'cancel',
    path: '/payouts/{reference}/cancel',
    does: 'Cancels it where it was never sent.',
    right: 'decide',
    params: payoutParams,
    answers: { 200: { does: 'Its state.', shape: jsonShapes.cancel.shape } },
  },
} as const satisfies Record<string, Operation>;
