import type { Fault, FaultFor } from './faults.ts';
import { shareOf } from './random.ts';

type Share = { fault: Fault; share: number };

const scenarios: ReadonlyMap<string, readonly Share[]> = new Map<string, readonly Share[]>([
  ['calm', []],
  [
    'lost-answers',
    [
      { fault: 'lost_answer', share: 0.15 },
      { fault: 'error_500_after', share: 0.05 },
      { fault: 'lost_before', share: 0.05 },
    ],
  ],
  ['late-webhooks', [{ fault: 'webhook_late', share: 0.4 }]],
  ['doubled-webhooks', [{ fault: 'webhook_doubled', share: 0.4 }]],
  ['missing-webhooks', [{ fault: 'webhook_missing', share: 0.4 }]],
  ['forged-webhooks', [{ fault: 'webhook_forged', share: 0.4 }]],
  ['failures', [{ fault: 'fail', share: 0.25 }]],
  ['returns', [{ fault: 'return', share: 0.25 }]],
  ['stranger', []],
  ['wrong-amount', [{ fault: 'wrong_amount', share: 0.2 }]],
  ['wrong-fee', [{ fault: 'wrong_fee', share: 0.2 }]],
  ['duplicates', [{ fault: 'duplicate', share: 0.2 }]],
  ['vanishing', [{ fault: 'vanish', share: 0.2 }]],
  [
    'chaos',
    [
      { fault: 'fail', share: 0.05 },
      { fault: 'return', share: 0.03 },
      { fault: 'lost_answer', share: 0.05 },
      { fault: 'lost_before', share: 0.03 },
      { fault: 'error_500_after', share: 0.03 },
      { fault: 'html_502', share: 0.02 },
      { fault: 'rate_limited_once', share: 0.03 },
      { fault: 'webhook_missing', share: 0.04 },
      { fault: 'webhook_doubled', share: 0.04 },
      { fault: 'webhook_late', share: 0.04 },
      { fault: 'webhook_forged', share: 0.03 },
      { fault: 'wrong_amount', share: 0.02 },
      { fault: 'wrong_fee', share: 0.02 },
      { fault: 'duplicate', share: 0.02 },
      { fault: 'vanish', share: 0.02 },
      { fault: 'never_settles', share: 0.01 },
    ],
  ],
]);

const withStranger: ReadonlySet<string> = new Set(['stranger', 'chaos']);

/** The valid values of `scenario`. */
export const scenarioNames: readonly string[] = [...scenarios.keys()];

/** A prepared scenario: which payout meets which fault, and whether the lists hold a transfer that nobody ordered. */
export type Scenario = { faultFor: FaultFor; stranger: boolean };

/**
 * Returns the named scenario; a reference's fault depends only on the seed and the reference. Throws an Error that
 * lists the known scenarios for any other name.
 */
export function createScenario(name: string, seed: number): Scenario {
  const shares = scenarios.get(name);
  if (shares === undefined) {
    throw new Error(`scenario: expected one of ${scenarioNames.join(', ')}, got "${name}"`);
  }
  return {
    faultFor: (reference) => pick(shares, shareOf(seed, reference)),
    stranger: withStranger.has(name),
  };
}

function pick(shares: readonly Share[], position: number): Fault | undefined {
  let upTo = 0;
  for (const { fault, share } of shares) {
    upTo += share;
    if (position < upTo) return fault;
  }
  return undefined;
}
