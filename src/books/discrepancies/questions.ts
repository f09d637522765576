import type { WitnessStatus } from '../../core/domain/payout.ts';

/**
 * What a look-up of this run said of a payout. `no_answer`: the service did not reply clearly. `status`: what the details
 * showed of a transfer that is ours in all it shows.
 */
export type LookedUp = { word: 'found' | 'not_found' | 'no_answer'; status: WitnessStatus | null };

/**
 * The questions reconciliation may have asked; each answer reaches the ledger as events before the promise resolves.
 */
export type FollowUp = {
  lookUp(payoutIds: bigint[], signal?: AbortSignal): Promise<Map<bigint, LookedUp>>;
  /** Returns how many resends were asked for, within the throttle. */
  askResend(payoutIds: bigint[], signal?: AbortSignal): Promise<number>;
  /** Applies stored webhooks, also those whose payout this run made known. */
  applyStored?(signal?: AbortSignal): Promise<unknown>;
};
