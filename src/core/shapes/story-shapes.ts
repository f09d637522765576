import { z } from 'zod';
import { collectionStates } from '../domain/collection.ts';
import { severities } from '../domain/discrepancy-kinds.ts';
import { lifeEvents } from '../domain/discrepancy-life.ts';
import { witnessStatuses } from '../domain/payout.ts';
import {
  attemptOutcome,
  called,
  decimal,
  discrepancyKindShape,
  discrepancyStateShape,
  instant,
  payoutStateShape,
} from './parts.ts';

const text = z.string().nullable();
const status = z.enum(witnessStatuses).nullable();
/** A message of the service: its fields where it is JSON, else its text. It may have been cut after 4 KiB. */
const message = z.unknown();

/** Asking for the webhook of a payout or collection again. */
const resendShape = called(
  'Resend',
  z.strictObject({
    kind: z.enum(['never_asked', 'waiting', 'asked', 'heard', 'gave_up']).describe('how far it is'),
    made: z.int().exactOptional().describe('how often the service was asked'),
    at: instant.exactOptional().describe('when it was asked last, or when the webhook came'),
    due_at: instant.exactOptional().describe('when it is asked next'),
    requests: z.array(
      z.strictObject({
        reason: z.string(),
        due_at: instant,
        asked_at: instant.nullable(),
        answered_at: instant.nullable(),
        outcome: text,
        reply: message,
      }),
    ),
  }),
);

const payout = z.strictObject({
  reference: z.string(),
  trace_id: z.string().describe('the trace of every attempt, question and webhook about it'),
  state: payoutStateShape,
  currency: z.string(),
  amount: decimal,
  account_name: z.string().describe('the beneficiary'),
  account_number: z.string().describe('masked but for its last four digits; whole with --full-accounts'),
  bank_code: z.string(),
  narration: z.string(),
  sender_name: z.string(),
  type: text.describe('EFT or RTC'),
  batch: z.string(),
  row: z.int().describe('the row in the file of the batch; the header is row 1'),
  cells: z.array(z.string()).describe('the row of the file as it came'),
  order: message.describe('the body that is signed and sent'),
  transfer_id: text,
  trx: text,
  fee: text,
  message: text,
  evidence: z.string().describe('the sources that agree with the state, joined by +'),
  submitted_at: instant.nullable(),
  settled_at: text.describe('as the service reports it'),
  final_at: instant.nullable().describe('when a final state was first known'),
  updated_at: instant,
  turned_away_until: instant
    .nullable()
    .describe('the service turned it away until then (its Retry-After); ignored when over an hour ahead'),
  pay_on: text.describe('the day before which it is not sent'),
  withheld_by: text.describe('why it is held though nobody held it'),
  predecessor: text.describe('the payout that this one pays again'),
  successor: text.describe('the payout that pays this one again'),
  dropped_by: text.describe('who brought the file'),
  approved_by: text,
  approved_at: instant.nullable(),
  resend: resendShape,
  collection: z.string().exactOptional().describe('the state of the collection with the same reference'),
});

const attempt = z.strictObject({
  number: z.int(),
  process: z.string(),
  began_at: instant,
  ended_at: instant.nullable(),
  outcome: attemptOutcome,
  http_status: z.int().nullable(),
  code: text,
  message: text,
  transfer_id: text,
  reply: message,
});

const difference = z.strictObject({ field: z.string(), expected: z.string(), actual: z.string() });
/** What the service said, and what it contradicts. */
const word = {
  said: status.describe('the status that it gave'),
  against: payoutStateShape.nullable().describe('the state of the payout that it spoke against'),
  differences: z.array(difference).describe('the fields in which it differs'),
  words: text.describe('the same as a sentence'),
};

const webhookShape = called(
  'Webhook',
  z.strictObject({
    id: z.int(),
    received_at: instant,
    last_received_at: instant,
    deliveries: z.int().describe('how often exactly this webhook came'),
    reference: text,
    trx: text,
    stale: z.boolean().describe('its timestamp was too old or in the future'),
    applied_at: instant.nullable(),
    verdict: text.describe('what applying it found'),
    ...word,
    headers: z.record(z.string(), z.unknown()),
    body: message,
  }),
);

const lookUp = z.strictObject({
  reason: z.string(),
  due_at: instant,
  asked_at: instant.nullable(),
  answered_at: instant.nullable(),
  outcome: text.describe('null while it is due'),
  ...word,
  reply: message,
});

const listed = z.strictObject({
  run: z.string(),
  transfer_id: z.string(),
  trx: text,
  reference: z.string(),
  status: z.string(),
  currency: z.string(),
  amount: z.string().describe('as the service lists it'),
  fee: text,
  account_name: z.string(),
  account_number: z.string(),
  bank_code: z.string(),
  domain: text,
  created_at: z.string(),
  updated_at: z.string(),
});

/** The events of a discrepancy, the oldest first. */
export const lifeShape = z
  .array(
    z.strictObject({
      at: instant,
      event: z.enum(lifeEvents),
      source: z.string(),
      note: z.string(),
    }),
  )
  .readonly();

const discrepancyShape = called(
  'Discrepancy',
  z.strictObject({
    id: z.string(),
    kind: discrepancyKindShape,
    severity: z.enum(severities),
    state: discrepancyStateShape,
    reference: z.string(),
    batch: text,
    trx: text,
    transfer_id: text,
    currency: z.string(),
    expected: z.string(),
    actual: z.string(),
    difference: z.string(),
    evidence: z.string(),
    action: z.string().describe('what to do'),
    note: z.string(),
    first_seen_at: instant,
    last_seen_at: instant,
    last_run: z.string(),
    resolved_at: instant.nullable(),
    resolved_by: z.enum(['evidence', 'person']).nullable(),
    reopened: z.int().describe('how often'),
    life: lifeShape.exactOptional(),
  }),
);

const entry = z.strictObject({
  seq: z.int(),
  at: instant,
  event: z.string(),
  source: z.string(),
  from_state: payoutStateShape.nullable(),
  to_state: payoutStateShape,
  detail: z.record(z.string(), z.unknown()).describe('what else changed, and why'),
});

const collection = z.strictObject({
  reference: z.string(),
  state: z.enum(collectionStates),
  file: text.describe('the file that announced it'),
  row: z.int().nullable(),
  expected_amount: decimal.nullable(),
  expected_currency: text,
  expected_at: instant.nullable(),
  heard_at: instant.nullable().describe('when its first webhook came'),
  told_status: status.describe('what the webhooks say, here and below'),
  told_trx: text,
  told_amount: text,
  told_currency: text,
  told_domain: text,
  told_fee: text,
  told_paid_at: text,
  dispute: z.array(difference).describe('in what two webhooks about it differ'),
  verified_at: instant.nullable().describe('when the service was asked last'),
  verified_status: status.describe('what the service answered, here and below'),
  verified_trx: text,
  verified_amount: text,
  verified_currency: text,
  verified_domain: text,
  verified_fee: text,
  verified_paid_at: text,
  received_at: instant.nullable().describe('when the service first confirmed it'),
  trx: text,
  ask_at: instant.nullable().describe('when it is asked about next'),
  updated_at: instant,
});

/** What `show REFERENCE --json` prints of a collection. */
export const collectionStoryShape = z.strictObject({
  collection,
  webhooks: z.array(webhookShape),
  lookups: z.array(
    z.strictObject({ asked_at: instant, answered_at: instant, outcome: z.string(), reply: message }),
  ),
  resend: resendShape,
  discrepancies: z.array(discrepancyShape),
});
export type CollectionStoryJson = z.input<typeof collectionStoryShape>;

/** What `show REFERENCE --json` prints of a payout. */
export const storyShape = z.strictObject({
  payout,
  attempts: z.array(attempt).describe('each request to pay, the oldest first'),
  webhooks: z.array(webhookShape),
  lookups: z.array(lookUp).describe('each question to the service about it'),
  listings: z.array(listed).describe('what the list of each reconciliation shows under its reference'),
  discrepancies: z.array(discrepancyShape),
  history: z.array(entry).describe('each change of its state'),
});
export type StoryJson = z.input<typeof storyShape>;
export type ResendJson = z.input<typeof resendShape>;
export type WebhookJson = z.input<typeof webhookShape>;
export type DiscrepancyJson = z.input<typeof discrepancyShape>;
