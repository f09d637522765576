/**
 * A fault planted on one payout. Faults of the answer affect only the first POST of a reference, so that a repeated
 * POST meets an ordinary service. `refuse_24` and `insufficient` last as long as they are set.
 */
export type Fault =
  /** Settles as failed. */
  | 'fail'
  /** Settles as success, then the money comes back: failed after success. */
  | 'return'
  /** Booked, and the connection is destroyed without an answer. */
  | 'lost_answer'
  /** The connection is destroyed and nothing is booked. */
  | 'lost_before'
  /** Booked, then a 500 without the service's envelope. */
  | 'error_500_after'
  /** A 500 without the service's envelope, nothing booked. */
  | 'error_500_before'
  /** An edge's 502 page, nothing booked. */
  | 'html_502'
  /** Booked, and no answer ever comes. */
  | 'hang'
  /** Stays pending forever. */
  | 'never_settles'
  /** No webhook at settlement; a resend sends one. */
  | 'webhook_missing'
  /** No webhook at all; a resend answers success and sends none. */
  | 'webhook_never'
  | 'webhook_doubled'
  /** The webhook comes long after the settlement. */
  | 'webhook_late'
  /** One more delivery, with another status and a signature that is not ours. */
  | 'webhook_forged'
  | 'wrong_amount'
  /** Lists and details show another fee than the webhook. */
  | 'wrong_fee'
  | 'wrong_currency'
  | 'wrong_account'
  /** Lists and details show the other mode's domain. */
  | 'wrong_domain'
  /** Booked twice under one reference after one POST. */
  | 'duplicate'
  /** Accepted in the answer, then never listed; no money moves. */
  | 'vanish'
  /** Booked, but the answer echoes another reference. */
  | 'wrong_echo'
  /** Refused: invalid amount. */
  | 'refuse_24'
  /** Refused: insufficient balance. */
  | 'insufficient'
  /** Code 11, out of service, once; nothing booked. */
  | 'out_of_service'
  /** The webhook says success; lists and details say failed. */
  | 'status_conflict'
  /** A 429 with the service's envelope and `Retry-After: 1`. */
  | 'rate_limited_once'
  /** A 429 of an edge, without the envelope. */
  | 'edge_429_once';

export type FaultFor = (reference: string) => Fault | undefined;
