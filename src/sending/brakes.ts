import type { PayeeRule } from './payee-facts.ts';

/** The limits and rules that may keep a batch or a payout back, from `submission` in the configuration (P2). */
export type Brakes = {
  approval: 'none' | 'always' | 'above' | 'callback';
  /** The total per currency above which `above` asks for an approval; a currency without one needs none. */
  approvalAbove: Record<string, string>;
  /** What a batch with changed or new payees needs; absent: nothing. */
  payees?: PayeeRule;
  /** What may be sent in a day of `timezone`, per currency; a currency without one has no limit. */
  dailyLimit: Record<string, string>;
  /** Above which a payout holds its batch until a person lets it go, per currency; absent: no limit. */
  payoutLimit?: Record<string, string>;
  /** How many payouts of a batch go first; 0: all at once. */
  canary: number;
  canaryHours: number;
  timezone: string;
  /** A batch waits for its checks before payment; absent: no extra of the service is switched on. */
  looksAhead?: boolean;
};

/** The brakes of a configuration that sets none. */
export const noBrakes: Brakes = {
  approval: 'none',
  approvalAbove: {},
  dailyLimit: {},
  canary: 0,
  canaryHours: 4,
  timezone: 'UTC',
};
