import { z } from 'zod';
import { collectionStates } from '../domain/collection.ts';
import { listStandings } from '../domain/verdict.ts';
import { expectedFileShape } from './intake-shapes.ts';
import {
  count,
  decimal,
  fields,
  flag,
  instant,
  list,
  map,
  openByKind,
  problemShape,
  sumShape,
  text,
  verdictShape,
} from './parts.ts';

/** How webhooks arrived. All but `forged` count payouts whose webhook is due. */
export const webhookFiguresShape = fields({
  due: count.describe('final payouts whose grace is over'),
  heard: count.describe('those for which a webhook about the end came'),
  late: count.describe('those whose first webhook came after the grace'),
  forged: count.describe('deliveries with a wrong signature since the last run'),
  resent: count.describe('those whose first webhook came after a resend request'),
});
export type WebhookFigures = z.input<typeof webhookFiguresShape>;
const resendFiguresShape = fields({ asked: count, heard: count, gave_up: count, waiting: count });
/** The results of resend requests, by payout and collection. */
export type ResendFigures = z.input<typeof resendFiguresShape>;
export const collectionsByState = z.partialRecord(z.enum(collectionStates), count);

/** What a run found in one currency; the fields after `unexplained` only when they apply. */
const currencyShape = fields({
  verdict: verdictShape,
  unseen: sumShape,
  foreign: sumShape,
  amount_differences: sumShape,
  unexplained: sumShape,
  duplicates: sumShape.exactOptional().describe('one more transfer for the same payout'),
  status_conflicts: sumShape.exactOptional().describe('the list shows another state than the ledger'),
  collisions: sumShape.exactOptional().describe('listed under the reference of a payout that was never sent'),
  returns: sumShape.exactOptional().describe('returned here, and failed on the list: no exception'),
  paid_elsewhere: sumShape.exactOptional().describe('never sent, settled as paid by a person: no exception'),
  open_conflicts: fields({ count }).exactOptional().describe('about money that no sum shows'),
  unreadable: fields({ count }).exactOptional().describe('listed with an amount that cannot be read'),
  overturned: sumShape.exactOptional().describe('of status_conflicts: paid here, and failed on the list'),
  difference: fields({ amount: decimal, listed: decimal, net_paid: decimal, made_of: map(sumShape) })
    .exactOptional()
    .describe('what the service lists less net paid, and what that is made of'),
});
export type CurrencyJson = z.input<typeof currencyShape>;

/** What a run did, before its figures are frozen. */
const runShape = fields({
  run: text,
  complete: z.union([flag, z.literal('window')]).describe('how much of the list was read'),
  list: z.enum(listStandings).describe('what the list is worth'),
  passes: count,
  listed: count.describe('distinct transfers seen'),
  matched: count.describe('our payouts paired with a listed transfer'),
  discrepancies: fields({ open: openByKind, opened: count, resolved: count }),
  lookups: count,
  resends: count,
  webhooks: webhookFiguresShape.exactOptional(),
  resend_requests: resendFiguresShape.exactOptional(),
  collections: fields({ verified: count, states: collectionsByState }).exactOptional(),
  resubmitted: count.exactOptional().describe('ordered once more, since their absence is confirmed'),
  short_cut: fields({ missed: count })
    .exactOptional()
    .describe('transfers that short cuts since the last whole list did not show'),
  reports: list(text).describe('absolute paths'),
  trouble: text.exactOptional().describe('why the list is incomplete'),
});
export type RunSummary = z.input<typeof runShape>;

export const reconcileShape = runShape.extend({
  verdict: verdictShape.describe('the worst of all currencies'),
  statement: map(currencyShape).describe('by currency'),
  taken: list(expectedFileShape).exactOptional().describe('files of expected collections'),
  refused: list(
    fields({
      file: text,
      problem_count: count,
      problems: list(problemShape).describe('the first of them'),
      error: text.exactOptional().describe('why the file stays where it is'),
    }),
  )
    .exactOptional()
    .describe('files of expected collections that were refused'),
  error: text.exactOptional().describe('why there is no list to compare with'),
});

export const reportShape = fields({ files: list(text) });

const named = list(fields({ discrepancy_id: text, kind: text, reference: text, was: text, now: text }));
const lineSum = fields({ count, amount: text.describe('empty for a line that only counts') });
/** What changed between two runs. */
const comparisonShape = fields({
  run: text,
  against: text,
  lines: list(
    fields({
      currency: text,
      line: text.describe('a line of the statement'),
      was: lineSum,
      now: lineSum,
      difference: lineSum,
      follows_from: list(text).exactOptional().describe('the lines that it is the sum of'),
      moved: list(
        fields({
          reference: text,
          batch: text,
          transfer_id: text,
          from: text,
          to: text,
          amount: text.describe('as it moved the line'),
          why: text,
        }),
      ),
    }),
  ),
  discrepancies: fields({ opened: named, closed: named }),
});
export const compareShape = comparisonShape.extend({ file: text });

export const closePeriodShape = fields({
  month: text,
  starts_at: instant,
  ends_at: instant,
  timezone: text,
  closed_at: instant,
  closed_by: text,
  run: text.nullable().describe('the run that it rests on'),
  digest: text,
  statement: list(fields({ currency: text, line: text, count, amount: decimal })),
  warnings: list(text),
  reports: list(text),
});
