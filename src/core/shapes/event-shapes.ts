import { z } from 'zod';
import { severities } from '../domain/discrepancy-kinds.ts';
import type { EventType } from '../domain/event-type.ts';
import {
  byState,
  called,
  count,
  decimal,
  discrepancyKindShape,
  fields,
  flag,
  haltKindShape,
  instant,
  list,
  map,
  payoutStateShape,
  text,
  totals,
  verdictShape,
} from './parts.ts';

const discrepancy = { id: text, kind: discrepancyKindShape, severity: z.enum(severities) };
const payouts = fields({ payouts: byState(count).describe('payouts by state') });
const halt = fields({ kind: haltKindShape });

/** What each event says beside what all say: no bank details, unless `events.details` adds them. */
const eventData = {
  'batch.taken': fields({ name: text, rows: count, totals }),
  'batch.held': fields({ reasons: list(text).describe('why, as kinds') }),
  'batch.sent': payouts,
  'batch.done': payouts,
  'batch.cancelled': payouts,
  'payout.changed': fields({
    from: payoutStateShape.nullable().describe('null: it is new, and pays another payout again'),
    to: payoutStateShape,
    evidence: text.describe('the sources that agree, joined by +'),
    account_number: text.exactOptional().describe('this and the rest only with `events.details`'),
    bank_code: text.exactOptional(),
    account_name: text.exactOptional(),
    currency: text.exactOptional(),
    amount: decimal.exactOptional(),
  }),
  'discrepancy.opened': fields({ ...discrepancy, again: flag.describe('it was closed before') }),
  'discrepancy.closed': fields({ ...discrepancy, by: z.enum(['evidence', 'person']) }),
  'run.finished': fields({
    run: text,
    complete: z.union([flag, z.literal('window')]),
    verdict: verdictShape,
    currencies: map(verdictShape).describe('by currency'),
  }),
  'halt.raised': halt,
  'halt.lifted': halt,
  'month.closed': fields({ month: text, digest: text }),
} as const satisfies Record<EventType, z.ZodType>;

export type EventData<T extends EventType> = z.input<(typeof eventData)[T]>;

function eventOf<T extends EventType>(type: T) {
  return fields({
    id: text.describe('the same for each delivery of this event'),
    cursor: text.describe('`after` this, the next event follows'),
    type: z.literal(type),
    at: instant,
    batch: text.nullable(),
    reference: text.nullable().describe('of the payout or transfer, where it is about one'),
    data: eventData[type],
  });
}

/** One event, as it is listed and posted (P39). */
export const eventShape = called(
  'Event',
  z.discriminatedUnion('type', [
    eventOf('batch.taken'),
    eventOf('batch.held'),
    eventOf('batch.sent'),
    eventOf('batch.done'),
    eventOf('batch.cancelled'),
    eventOf('payout.changed'),
    eventOf('discrepancy.opened'),
    eventOf('discrepancy.closed'),
    eventOf('run.finished'),
    eventOf('halt.raised'),
    eventOf('halt.lifted'),
    eventOf('month.closed'),
  ]),
);
export type EventJson = z.input<typeof eventShape>;

/** A page of events. */
export const eventsShape = fields({
  events: list(eventShape),
  next: text
    .nullable()
    .describe('the cursor of the next page; null at the end. A page may be empty before the end'),
});
