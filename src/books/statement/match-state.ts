import type { Mode, PayoutState, WitnessStatus } from '../../core/domain/payout.ts';
import { isBeneficiary, readStatus } from '../../core/domain/witness.ts';
import type { ListedPart, StatedPayout } from '../statement-facts.sql.ts';

/**
 * How a payout compares with the run's listing, the column `match_state` of payouts.csv:
 * `matched` listed, and status, amount, currency, account, bank and mode agree (a listed `pending` is only earlier news);
 * `differs` listed, and something disagrees; `not_listed` the service accepted it, but does not list it;
 * `in_flight` not listed, and either not known to have been taken, or sent after the listing began, or no usable list;
 * `never_sent` not listed, and rightly so: held, ready, cancelled or refused.
 */
export type MatchState = 'matched' | 'differs' | 'not_listed' | 'in_flight' | 'never_sent';

export type Sides = {
  mode: Mode;
  state: PayoutState;
  late: boolean;
  payout: StatedPayout;
  listed: ListedPart | null;
};

/** What the listing may show for a payout in each state without contradicting it; empty: nothing. */
const agreeing: Record<PayoutState, WitnessStatus[]> = {
  held: [],
  ready: [],
  cancelled: [],
  refused: [],
  sending: ['pending'],
  unknown: [],
  pending: ['pending'],
  success: ['success', 'pending'],
  failed: ['failed', 'pending'],
  returned: ['returned', 'success'],
};

export function matchState({ mode, state, late, payout, listed }: Sides): MatchState {
  if (listed === null) return unlisted(state, late);
  const status = readStatus(listed.status);
  const beneficiary = { accountNumber: payout.account_number, bankCode: payout.bank_code };
  const same =
    !listed.collides &&
    status !== null &&
    agreeing[state].includes(status) &&
    listed.amount === payout.amount &&
    listed.currency === payout.currency &&
    isBeneficiary(listed, beneficiary) &&
    (listed.domain === null || listed.domain.toLowerCase() === mode);
  return same ? 'matched' : 'differs';
}

function unlisted(state: PayoutState, late: boolean): MatchState {
  switch (state) {
    case 'held':
    case 'ready':
    case 'cancelled':
    case 'refused':
      return 'never_sent';
    case 'sending':
    case 'unknown':
      return 'in_flight';
    case 'pending':
    case 'success':
    case 'failed':
    case 'returned':
      return late ? 'in_flight' : 'not_listed';
  }
}
