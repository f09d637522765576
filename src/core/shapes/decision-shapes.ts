import { z } from 'zod';
import { severities } from '../domain/discrepancy-kinds.ts';
import { witnessStatuses } from '../domain/payout.ts';
import {
  attemptOutcome,
  called,
  count,
  decimal,
  discrepancyKindShape,
  discrepancyStateShape,
  fields,
  flag,
  instant,
  list,
  openByKind,
  payoutStateShape,
  problemShape,
  reasonShape,
  rejectedFileShape,
  text,
} from './parts.ts';
import { lifeShape } from './story-shapes.ts';

/** What a decision about one payout rests on. */
const evidence = called(
  'Evidence',
  fields({
    reference: text,
    state: payoutStateShape,
    evidence: text.describe('the sources that agree with the state, joined by +'),
    message: text.nullable(),
    amount: decimal,
    currency: text,
    account_name: text,
    account_number: text.describe('masked'),
    bank_code: text,
    batch: text,
    row: count,
    transfer_id: text.nullable(),
    trx: text.nullable(),
    attempts: list(
      fields({
        number: count,
        began_at: instant,
        ended_at: instant.nullable(),
        outcome: attemptOutcome,
        code: text.nullable(),
        message: text.nullable(),
      }),
    ),
    look_up: fields({
      verdict: z.enum(['none', 'no_answer', 'no_witness', 'not_found', 'conflict', ...witnessStatuses]),
      asked_at: instant.nullable(),
      answered_at: instant.nullable(),
    }),
    listing: fields({ run: text, finished_at: instant, statuses: list(text) })
      .nullable()
      .describe('the last complete list, or null'),
    listed_since: list(
      fields({ run: text, started_at: instant, finished_at: instant.nullable(), status: text }),
    ).describe('what later lists showed, complete or not'),
    settled_as_not_paid: fields({ at: instant, source: text, note: text }).nullable(),
    look_alikes: list(text).describe('transfers of no payout that may be another payment of it'),
    webhooks: list(fields({ received_at: instant, effect: text.nullable() })),
    discrepancies: list(fields({ id: text, kind: discrepancyKindShape, state: discrepancyStateShape })),
    successor: text.nullable().describe('the payout that pays this one again'),
    warning: text.nullable(),
    can: z.enum(['again', 'successor', 'no']).describe('what retry may do'),
    why: text.nullable().describe('why retry may do nothing'),
    remedies: list(z.enum(['wait', 'release', 'submit', 'retry', 'cancel', 'settle', 'resolve'])),
  }),
);
const evidenceShape = fields({ evidence_digest: text, evidence: list(evidence) });
export type EvidenceJson = z.input<typeof evidenceShape>;

export const retryShape = fields({
  ...evidenceShape.shape,
  decided: list(
    fields({
      reference: text,
      pays_again: text.nullable(),
      state: payoutStateShape,
      message: text.nullable(),
    }),
  ),
  refused: list(reasonShape).exactOptional(),
  nothing_needed: list(fields({ reference: text, state: payoutStateShape, text }))
    .exactOptional()
    .describe('the service has these'),
  waits: text.nullable().exactOptional().describe('why nothing was sent'),
  error: text.exactOptional(),
});

const settled = fields({ reference: text, state: payoutStateShape });
export const settleShape = fields({
  ...evidenceShape.shape,
  settled: list(settled),
  not_settled: list(settled.extend({ why: text })),
  reference: text.exactOptional().describe('where it was about one payout'),
  state: payoutStateShape.exactOptional().describe('where it was about one payout'),
  error: text.exactOptional(),
  note: text.exactOptional().describe('absent where nothing needed settling'),
});

export const resendShape = fields({
  asked: list(fields({ reference: text, ok: flag, message: text })),
});

const severity = z.enum(severities);
export const discrepanciesShape = fields({
  discrepancies: list(
    fields({
      id: text,
      discrepancy_id: text.describe('the same'),
      kind: discrepancyKindShape,
      subject: text.describe('a reference, or transfer:ID'),
      payout_id: count.nullable(),
      batch_id: text.nullable(),
      batch: text.nullable(),
      reference: text,
      trx: text.nullable(),
      transfer_id: text.nullable(),
      currency: text,
      expected: text,
      actual: text,
      difference: text,
      severity,
      later_severity: severity.nullable().describe('from graver_at on'),
      graver_at: instant.nullable(),
      evidence: text,
      advice: text,
      action: text.describe('what to do'),
      state: discrepancyStateShape,
      resolved_by: z.enum(['evidence', 'person']).nullable(),
      note: text,
      reopened: count.describe('how often'),
      closed_with_payout: count.describe('1: a person closed it together with its payout'),
      shown_at: text.nullable(),
      first_seen_at: instant,
      last_seen_at: instant,
      last_run_id: text,
      resolved_at: instant.nullable(),
      age_days: count,
      life: lifeShape,
    }),
  ),
  open: openByKind,
});

export const exportShape = fields({ file: text, exported: count, open: openByKind });

/** Either all decisions of the workbook count, or `problems` says why none does. */
export const importShape = fields({
  file: text,
  changed: count,
  already: count.exactOptional().describe('how many were decided so before'),
  undecided: count.exactOptional().describe('rows with a note and no decision'),
  open: openByKind,
  error: text.exactOptional(),
  problems: list(problemShape).exactOptional(),
});

export const ackShape = fields({
  verdict: z.enum(['acknowledge', 'resolve']),
  changed: count,
  already: list(text),
  files: list(rejectedFileShape).describe('the refused files that it ended'),
  open: openByKind,
});
