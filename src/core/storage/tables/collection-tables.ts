import type { Generated, Insertable, Selectable } from 'kysely';
import type { CollectionState } from '../../domain/collection.ts';
import type { WitnessStatus } from '../../domain/payout.ts';

/** The tables about money received, resend requests and what the receiver counts; part of the ledger's tables. */
export type CollectionTables = {
  collection_files: CollectionFileTable;
  collections: CollectionTable;
  collection_look_ups: LookUpTable;
  resend_requests: ResendTable;
  /** Until when requests to an endpoint pause, and how many pauses came in a row. */
  pauses: { name: string; until_at: string; noted_at: string; strikes: bigint; why: string };
  /** Counters that never shrink; `seen`: the value at the last run. */
  tallies: { name: string; n: bigint; seen: Generated<bigint> };
};

type CollectionFileTable = {
  id: string;
  /** The file's name as dropped, without folders. */
  file_name: string;
  /** SHA-256 over the canonical parsed rows. */
  content_hash: string;
  /** `loading`: its rows may still be discarded. */
  phase: 'loading' | 'loaded';
  row_count: bigint;
  created_at: string;
};

type CollectionTable = {
  id: Generated<bigint>;
  reference: string;
  /** The reference in lower case; always unique. */
  reference_key: string;
  state: CollectionState;
  /** The expectation file and row that announced it; null if there is none. */
  file_id: string | null;
  row_number: bigint | null;
  /** Minor units of `expected_currency`. */
  expected_amount: bigint | null;
  expected_currency: string | null;
  expected_at: string | null;
  /** When the first webhook about it came. */
  heard_at: string | null;
  /** What the webhooks say, as text. */
  told_status: WitnessStatus | null;
  told_trx: string | null;
  told_amount: string | null;
  told_currency: string | null;
  told_domain: string | null;
  told_fee: string | null;
  told_paid_at: string | null;
  /** JSON array of differences between two webhooks about it (P18). */
  dispute: Generated<string>;
  /** The verify endpoint's last answer, and when it was asked. */
  verified_at: string | null;
  verified_status: WitnessStatus | null;
  verified_trx: string | null;
  verified_amount: string | null;
  verified_currency: string | null;
  verified_domain: string | null;
  verified_fee: string | null;
  verified_paid_at: string | null;
  /** When the verify endpoint first confirmed it as a success that agrees. */
  received_at: string | null;
  trx: string | null;
  /** When it is verified next; null: never, unless an event asks for it. */
  ask_at: string | null;
  rung: Generated<bigint>;
  /** How often an event asked for a look-up; an answer older than the latest event does not settle the question. */
  raised: Generated<bigint>;
  /** When the last answered look-up was asked, and its result. */
  answered_at: string | null;
  answer: string | null;
  updated_at: string;
};

type LookUpTable = {
  id: Generated<bigint>;
  collection_id: bigint;
  asked_at: string;
  answered_at: string;
  /** `says success` and so on, perhaps with why it is no receipt; `not_found`, `no_witness`, `contradictory: …`, `error`. */
  outcome: string;
  /** The reply's text, at most 4 KiB. */
  raw: string | null;
};

type ResendTable = {
  id: Generated<bigint>;
  payout_id: bigint | null;
  collection_id: bigint | null;
  reason: string;
  due_at: string;
  /** Written before the request leaves, so that a crash never repeats a request that may have been sent. */
  asked_at: string | null;
  answered_at: string | null;
  /** `heard`: a webhook came first; `dropped`: no longer wanted; null while due. */
  outcome: 'asked' | 'refused' | 'error' | 'no_answer' | 'heard' | 'dropped' | null;
  raw: string | null;
};

export type Collection = Selectable<CollectionTable>;
export type NewCollection = Insertable<CollectionTable>;
export type CollectionFile = Selectable<CollectionFileTable>;
export type CollectionLookUp = Selectable<LookUpTable>;
export type ResendRequest = Selectable<ResendTable>;
