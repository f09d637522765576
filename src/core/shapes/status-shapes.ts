import { z } from 'zod';
import { listStandings } from '../domain/verdict.ts';
import {
  batchStateShape,
  byState,
  count,
  decimal,
  fields,
  findingShape,
  flag,
  haltKindsShape,
  holdReasons,
  instant,
  list,
  map,
  modeShape,
  openByKind,
  rejectedFileShape,
  text,
  totals,
  verdictShape,
  waitingShape,
  waivedListingShape,
  withheldShape,
} from './parts.ts';
import { collectionsByState, webhookFiguresShape } from './run-shapes.ts';

const fileTask = fields({
  kind: z.enum(['archive', 'errors', 'invalid']),
  owner: text.describe('the batch, or the file of expected collections'),
  source: text,
  target: text,
  outcome: z.enum(['done', 'missing', 'differs']).nullable(),
});

export const statusShape = fields({
  mode: modeShape,
  payouts: byState(count),
  totals: map(byState(decimal)).describe('by currency, then by state'),
  discrepancies: openByKind,
  webhooks: fields({
    received: count,
    applied: count,
    rejected: count,
    differing: count,
    oldest_unapplied_seconds: count.nullable(),
    forged: count.describe('since the last run'),
    at_last_run: webhookFiguresShape.nullable().describe('as the last run found it'),
  }),
  look_ups: fields({ due: count, overdue_seconds: count.nullable() }),
  collections: collectionsByState,
  queue: fields({
    url: text,
    kind: z.enum(['inline', 'redis', 'postgres']),
    depth: count.nullable().describe('null when only the daemon knows'),
    reachable: flag,
    why: text.nullable(),
  }),
  inbox: fields({
    files: count,
    waiting: list(
      fields({
        name: text,
        why: z.union([
          fields({ kind: z.literal('settling') }),
          fields({ kind: z.literal('no_line_end'), leftMs: z.number() }),
          fields({
            kind: z.literal('open'),
            writers: list(fields({ pid: count, command: text })),
          }),
        ]),
      }),
    ),
    ignored: list(fields({ name: text, why: text })),
    rejected: list(rejectedFileShape).describe(
      'files that were refused, or taken without some rows, until a good one comes or `ack` ends it',
    ),
  }),
  batches: list(
    fields({
      batch: text,
      file: text,
      rows: count,
      state: batchStateShape,
      payouts: byState(count),
      totals,
      hold_reasons: holdReasons,
    }),
  ),
  last_run: fields({
    run: text,
    started_at: instant,
    list: z.enum(listStandings).nullable(),
    verdict: verdictShape,
    verdicts: map(verdictShape).describe('by currency'),
  }).nullable(),
  halted: haltKindsShape.nullable().describe('why nothing is sent, or null'),
  waived_listing: waivedListingShape.nullable().describe('why new batches are sent without a complete list'),
  daemon: fields({
    running: flag,
    elsewhere: flag.exactOptional().describe('with a shared ledger: a daemon runs for another data folder'),
  }),
  schedules: list(
    fields({
      job: text,
      host: text.nullable().describe('whose folders it works in, where there are several'),
      last_run_at: instant.nullable(),
      last_result: z
        .looseObject({ kind: z.enum(['running', 'succeeded', 'incomplete', 'failed', 'skipped']) })
        .nullable()
        .describe('with the counts of its job'),
      next_run_at: instant.nullable().describe('null when it is off, or when no daemon runs it'),
      late: flag,
    }),
  ),
  alerts: fields({
    channels: list(text),
    outbox: list(
      fields({ channel: text, waiting: count, failing: count, gave_up: count, problem: text.nullable() }),
    ),
  }),
  unknown: list(text).describe('the first payouts whose outcome is unknown'),
  withheld: withheldShape,
  daily_limit: list(
    fields({ currency: text, day: text, limit: decimal, used: decimal, left: decimal, until: instant }),
  ),
  waits: list(waitingShape),
  approvals: list(fields({ batch: text, by: text, at: instant, digest: text })),
  files: fields({
    open: list(fileTask).describe('files that are still to be moved'),
    lost: list(fileTask),
    changed: list(fields({ owner: text, file: text, bytes_read: count, bytes_now: count })).describe(
      'archived files that differ from what was read',
    ),
  }),
  reports_due: list(text),
  findings: list(findingShape).describe('what is wrong or waits: its exit code is 4 while there is any'),
});
export type StatusJson = z.input<typeof statusShape>;
