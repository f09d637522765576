import { z } from 'zod';
import {
  batchStateShape,
  byState,
  count,
  fields,
  flag,
  haltKindsShape,
  holdReasons,
  instant,
  list,
  modeShape,
  payoutStateShape,
  reasonShape,
  text,
  totals,
} from './parts.ts';

/** Payouts that a release left: some stay held, some are unknown again. */
export const notReleasedShape = fields({
  kept: count.describe('payouts that stay held'),
  kept_first: list(reasonShape).describe('the first of them'),
  unknown: count.describe('payouts that are unknown again'),
  unknown_first: list(reasonShape).describe('the first of them'),
});
export type NotReleasedJson = z.input<typeof notReleasedShape>;

export const approveShape = fields({
  batch: text,
  approved_by: text,
  approved_at: instant,
  digest: text,
  rows: count.exactOptional(),
  totals: totals.exactOptional(),
  warnings: list(text).exactOptional().describe('absent like rows and totals where it was approved already'),
  released: count,
  ...notReleasedShape.partial().shape,
  hold_reasons: holdReasons,
});

const underWay = byState(count).describe('payouts by how they count');

export const holdShape = fields({
  batch: text,
  held: count,
  sending: count,
  under_way: underWay,
  released_since: flag.describe('a release that saw this hold has ended it; then the exit code is 4'),
});

export const holdAllShape = fields({ mode: modeShape, held: z.literal(true), sending: count });

export const releaseShape = fields({
  batch: text,
  released: count,
  sending: count,
  ...notReleasedShape.shape,
  hold_reasons: holdReasons,
  canary: text.nullable().describe('why its canary failed, where the rest goes on'),
  unanswered: text.nullable().describe('the answer to service.extras that it goes on without'),
  halted: haltKindsShape.nullable().describe('why nothing is sent, or null'),
});

export const releaseAllShape = fields({
  mode: modeShape,
  released: flag,
  cause: text.nullable(),
  waived: flag.describe('a person ended the wait for a complete list'),
  not_proven: text.nullable().describe('what that list did not prove'),
  evidence: text.nullable().describe('the digest that --evidence must repeat, where a note can end the wait'),
  halted: haltKindsShape.nullable().describe('why nothing is sent, or null'),
});

const withdrawn = count.describe('retries that had not gone out; their payouts are unknown again');

/** Of a batch, or of one payout. */
export const cancelShape = z.union([
  fields({
    batch: text,
    state: batchStateShape,
    cancelled: count,
    withdrawn,
    listed: count,
    under_way: underWay,
  }),
  fields({ reference: text, state: payoutStateShape, cancelled: count, withdrawn }),
]);
