import { z } from 'zod';
import {
  batchStateShape,
  byState,
  called,
  count,
  fields,
  flag,
  haltShape,
  holdReasons,
  leftOutShape,
  list,
  map,
  payoutStateShape,
  problemShape,
  text,
  totals,
  waitingShape,
  withheldShape,
} from './parts.ts';

const banks = map(fields({ count, totals })).describe('by bank code');
const warnings = list(text);
const retries = list(
  fields({
    row: count,
    reference: text,
    pays_again: text,
    state: payoutStateShape,
    changed: list(text).describe('the columns in which they differ'),
  }),
).describe('rows that pay a payout again');
const problems = list(problemShape).describe('the first of them');
const problem_count = count;
const waits = list(text).describe('why a part of the batch would wait');

const compared = fields({
  with: text.describe('the last batch of the series, or of what a row pays again'),
  joined: count,
  left: count,
  account_changed: count,
  name_changed: count,
  amount_changed: count.describe('by more than half'),
  totals_before: totals,
  totals_now: totals,
  changes: list(
    fields({
      row: count,
      reference: text,
      kind: z.enum(['account_changed', 'name_changed', 'amount_changed', 'new_payee']),
      old: text,
      new: text,
    }),
  ).describe('the first thousand of each kind; new_payee with submission.payees approve_new only'),
})
  .nullable()
  .describe('how it differs from the last batch of its series; null without one');

export const checkShape = fields({
  files: list(
    fields({
      file: text,
      ok: flag,
      delimiter: text.nullable(),
      lines: count,
      rows: count,
      skipped: count.describe('bad rows left out with skip_row'),
      totals,
      banks,
      warnings,
      problems,
      problem_count,
      duplicates: list(fields({ row: count, reference: text, earlier: text })).describe(
        'rows that look like another payment, which earlier names',
      ),
      retries,
      compared,
      hold_reasons: holdReasons,
      waits,
    }),
  ),
});

/** An accepted file of expected collections. */
export const expectedFileShape = called(
  'ExpectedFile',
  fields({
    id: text,
    file: text,
    rows: count,
    totals,
    ...leftOutShape.shape,
  }),
);

export const submitShape = fields({
  batches: list(
    fields({
      batch: text,
      file: text,
      rows: count,
      totals,
      state: batchStateShape,
      payouts: byState(count),
      hold_reasons: holdReasons,
      delimiter: text.nullable().exactOptional().describe('like the next five, of a file that was taken now'),
      ...leftOutShape.partial().shape,
      warnings,
    }),
  ),
  halted: haltShape.nullable().describe('why nothing is sent, or null'),
  unknown: list(text).describe('the first payouts whose outcome is unknown'),
  withheld: withheldShape,
  waits: list(waitingShape),
  refused: list(
    fields({
      file: text,
      problem_count,
      problems,
      errors_file: text.nullable().describe('lists all problems'),
      error: text.exactOptional().describe('why the file stays where it is'),
      batch: text.nullable().describe('the batch that its content became before'),
    }),
  ),
  collections: list(expectedFileShape).exactOptional().describe('files of expected collections'),
  given_back: list(fields({ owner: text, errors_file: text.nullable(), invalid_file: text.nullable() }))
    .exactOptional()
    .describe('rows that an interrupted run left out'),
  error: text.exactOptional().describe('what stopped it'),
});
export type SubmitJson = z.input<typeof submitShape>;

export const dryRunShape = fields({
  dry_run: z.literal(true),
  batches: list(
    fields({
      file: text,
      rows: count,
      skipped: count,
      problems: problems.exactOptional(),
      totals,
      warnings,
      banks,
      retries,
      compared,
      hold_reasons: holdReasons,
      waits,
    }),
  ),
  refused: list(fields({ file: text, problem_count, problems })),
});
