import type { Generated } from 'kysely';
import type { EventType } from '../../domain/event-type.ts';

/** What programs are told, and what they were answered. */
export type DoorTables = {
  events: EventTable;
  event_outboxes: EventOutboxTable;
  kept_answers: KeptAnswerTable;
  approval_questions: ApprovalQuestionTable;
};

/** Everything that is told, except what happens to payouts: an entry of their history is their event (P39). */
type EventTable = {
  id: Generated<bigint>;
  /** The newest entry of history when it was written: it comes after that one, and before the next. */
  after_history: bigint;
  at: string;
  type: Exclude<EventType, 'payout.changed'>;
  batch_id: string | null;
  reference: string | null;
  /** JSON object. */
  data: string;
};

type EventOutboxTable = {
  name: string;
  /** How far it was told: up to the last event that was acknowledged or given up. */
  after_cursor: string;
  /** The worker that posts, or died while it did. */
  claimed_by: string | null;
  /** How often the next event was tried. */
  tries: Generated<bigint>;
  /** When it is tried again, and when that was decided. */
  due_at: string;
  noted_at: string;
  /** Why the last try failed: a code such as `http_404`, never a text of the other side. */
  problem: string | null;
  /** How many events were given up, and when the last one was. */
  gave_up: Generated<bigint>;
  gave_up_at: string | null;
};

/** What a request with an Idempotency-Key was answered, for a day. */
type KeptAnswerTable = {
  person: string;
  key: string;
  /** Digest of the request: another request under the same key is refused. */
  request: string;
  made_at: string;
  worker_id: string;
  /** Null: it is being worked on, or its process died. */
  status: bigint | null;
  body: string | null;
};

/** What the operator's own server is asked about a batch that waits for an approval. */
type ApprovalQuestionTable = {
  batch_id: string;
  /** What was asked about last; empty: nothing yet. */
  digest: string;
  /** Since when it is asked about this digest. */
  asked_at: string;
  /** The worker that asks, or died while it did. */
  claimed_by: string | null;
  tries: Generated<bigint>;
  /** When it is asked again, and when that was decided. */
  due_at: string;
  noted_at: string;
  /** Why the last answer counts for nothing: a code such as `http_404` or `unsigned`, never a text of the other side. */
  problem: string | null;
  /** When the server rejected the batch: it is not asked again. */
  rejected_at: string | null;
};
