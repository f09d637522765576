import { z } from 'zod';
import { discrepancyKinds } from '../domain/discrepancy-kinds.ts';
import { discrepancyStates } from '../domain/discrepancy-life.ts';
import { attemptOutcomes } from '../domain/outcome.ts';
import { batchStates, modes, payoutStates, replacedStates } from '../domain/payout.ts';
import { verdicts } from '../domain/verdict.ts';

/** A decimal with the currency's digits, such as `1500.00`. */
export const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
/** An instant in UTC, ISO 8601. */
export const instant = z.iso.datetime();
export const text = z.string();
export const count = z.int();
export const flag = z.boolean();
export const fields = z.strictObject;
export const list = <T extends z.ZodType>(one: T) => z.array(one).readonly();
/** The name under which docs/json.md shows a shape once. */
export const called = <T extends z.ZodType>(id: string, one: T): T => one.meta({ id });
/** By a name that the data choose, such as a currency. */
export const map = <T extends z.ZodType>(value: T) => z.record(z.string(), value);

export const modeShape = z.enum(modes);
export const payoutStateShape = called('PayoutState', z.enum(payoutStates));
/** How a payout counts: its state, unless a successor pays it again. */
const counted = called('CountedState', z.enum([...payoutStates, ...replacedStates]));
export const byState = <T extends z.ZodType>(value: T) => z.partialRecord(counted, value);
export const batchStateShape = called('BatchState', z.enum(batchStates));
export const verdictShape = called('Verdict', z.enum(verdicts));
export const discrepancyKindShape = called('DiscrepancyKind', z.enum(discrepancyKinds));
export const discrepancyStateShape = z.enum(discrepancyStates);
/** What became of a request to pay; null while it is in flight. */
export const attemptOutcome = z
  .enum(attemptOutcomes)
  .nullable()
  .describe('null while the request is in flight');
export const sumShape = fields({ count, amount: decimal });
/** Open discrepancies by kind. */
export const openByKind = map(count).describe('open discrepancies by kind');
export const totals = map(decimal).describe('amounts by currency');
export const holdReasons = list(text).describe('why the batch is held, with the command that helps');

/** What is wrong or waits. */
export const findingShape = called(
  'Finding',
  fields({
    kind: text,
    severity: z.enum(['high', 'medium', 'low']),
    since: instant.nullable(),
    count: count.describe('cases; for a certificate the days left, for a disk the free MiB'),
    subject: text.describe('which batch, job, machine or cause; empty where there can be only one'),
    verb: text.nullable().describe('the command that helps, or says more'),
  }),
);
export type FindingJson = z.input<typeof findingShape>;

/** A problem in a file. */
export const problemShape = called(
  'Problem',
  fields({
    row: count.describe('the header is row 1; 0: the file as a whole'),
    column: text,
    value: text,
    problem: text,
    fix: text,
  }),
);

/** Why nothing is sent. */
export const haltShape = fields({ cause: text, at: instant });
export const haltKindShape = z.enum([
  'person',
  'account',
  'signature',
  'unknowns',
  'canary_open',
  'canary_failed',
  'barrier',
]);
export const haltKindsShape = haltShape.extend({ kinds: list(haltKindShape) });

export const waivedListingShape = fields({ at: instant, by: text, note: text, not_proven: text });

/** A refused file, or the rows that were left out of a batch. */
export const rejectedFileShape = called(
  'RejectedFile',
  fields({
    kind: z.enum(['refused', 'left_out', 'taken_before']),
    file: text.describe('its name as it was dropped'),
    since: instant,
    problems: count,
    rows: count.describe('how many rows were left out'),
    batch: text.nullable().describe('the batch without these rows, or that has its content'),
    place: text.describe('what to correct and drop again'),
    errors_file: text.nullable(),
  }),
);

/** A payout with the reason for what became of it. */
export const reasonShape = fields({ reference: text, why: text });

/** Payouts that were held just before they were sent. */
export const withheldShape = list(fields({ batch: text, reference: text, message: text })).describe(
  'payouts not sent, since the service already shows them',
);

/** What is ready but waits. */
export const waitingShape = called(
  'Waiting',
  z.union([
    fields({
      kind: z.literal('date'),
      batch: text,
      currency: text,
      payouts: count,
      amount: decimal,
      pay_on: text.describe('the day before which it is not sent'),
      service_clock: z
        .enum(['earlier', 'unheard'])
        .nullable()
        .describe('where our clock says that day: what the service says of it'),
    }),
    fields({
      kind: z.literal('daily_limit'),
      currency: text,
      payouts: count,
      amount: decimal,
      until: instant,
    }),
    fields({
      kind: z.literal('canary'),
      batch: text,
      payouts: count,
      failed: flag,
      canary: z.partialRecord(payoutStateShape, count).describe('the canary, by state'),
    }),
    fields({
      kind: z.literal('file'),
      batch: text,
      payouts: count,
      why: z.enum(['open', 'not_archived', 'elsewhere']),
      path: text.exactOptional(),
    }),
    fields({
      kind: z.literal('check'),
      batch: text,
      payouts: count,
      why: text.nullable().describe('null before the service was asked'),
    }),
  ]),
);

export type WaitingJson = z.input<typeof waitingShape>;

/** Rows that were left out of a file; all but `skipped` only where there are any. */
export const leftOutShape = fields({
  skipped: count.describe('how many rows were left out'),
  problem_count: count.exactOptional(),
  problems: list(problemShape).exactOptional().describe('the first of them'),
  errors_file: text.nullable().exactOptional().describe('lists all problems'),
  invalid_file: text.nullable().exactOptional().describe('holds the rows that were left out'),
});
export type LeftOutJson = z.input<typeof leftOutShape>;
