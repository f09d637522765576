import type { Generated } from 'kysely';
import type { Contradiction } from '../../domain/contradiction.ts';
import type { PayoutState, WitnessStatus } from '../../domain/payout.ts';

/**
 * `says`: a status that nothing contradicts. `contradictory`: it contradicts itself. `look_alikes`: of no payout, and
 * asked about those that it may mean. The others as for {@link Contradiction}.
 */
export type WebhookOutcome =
  | Contradiction['kind']
  | 'says'
  | 'contradictory'
  | 'stale'
  | 'no_status'
  | 'unmatched'
  | 'look_alikes'
  | 'not_understood'
  /** Signed with another key than the payout was sent with (P31). */
  | 'other_key';

/** What a webhook or a look-up holds of what the service said, beside the kind of it. */
export type SaidColumns = {
  /** The status that it gave. */
  said: Generated<WitnessStatus | null>;
  /** The state of the payout that it spoke against. */
  against: Generated<PayoutState | null>;
  /** JSON array of the fields in which it differs. */
  differences: Generated<string | null>;
};

/** What came of a details look-up. `outdated`: an attempt outran it (P4). `superseded`: it was answered otherwise. */
export type LookUpOutcome =
  | Exclude<Contradiction['kind'], 'against_webhook'>
  | 'found'
  | 'not_found'
  | 'no_witness'
  | 'error'
  | 'outdated'
  | 'superseded';
