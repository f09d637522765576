import type { Fault, FaultFor } from './faults.ts';
import { shareOf } from './random.ts';

type Share = readonly [fault: Fault, share: number];

const scenarios: ReadonlyMap<string, readonly Share[]> = new Map<string, readonly Share[]>([
  ['calm', []],
  [
    'lost-answers',
    [
      ['lost_answer', 0.15],
      ['error_500_after', 0.05],
      ['lost_before', 0.05],
    ],
  ],
  ['late-webhooks', [['webhook_late', 0.4]]],
  ['doubled-webhooks', [['webhook_doubled', 0.4]]],
  ['missing-webhooks', [['webhook_missing', 0.4]]],
  ['forged-webhooks', [['webhook_forged', 0.4]]],
  ['failures', [['fail', 0.25]]],
  ['returns', [['return', 0.25]]],
  ['stranger', []],
  ['wrong-amount', [['wrong_amount', 0.2]]],
  ['wrong-fee', [['wrong_fee', 0.2]]],
  ['duplicates', [['duplicate', 0.2]]],
  ['vanishing', [['vanish', 0.2]]],
  [
    'chaos',
    [
      ['fail', 0.05],
      ['return', 0.03],
      ['lost_answer', 0.05],
      ['lost_before', 0.03],
      ['error_500_after', 0.03],
      ['html_502', 0.02],
      ['rate_limited_once', 0.03],
      ['webhook_missing', 0.04],
      ['webhook_doubled', 0.04],
      ['webhook_late', 0.04],
      ['webhook_forged', 0.03],
      ['wrong_amount', 0.02],
      ['wrong_fee', 0.02],
      ['duplicate', 0.02],
      ['vanish', 0.02],
      ['never_settles', 0.01],
    ],
  ],
]);

/** The valid values of `scenario`. */
export const scenarioNames: readonly string[] = [...scenarios.keys()];

/**
 * Returns the named scenario: which payout meets which fault, and whether the lists hold a transfer that nobody ordered.
 * A reference's fault depends only on the seed and the reference. Throws an Error that lists the known scenarios.
 */
export function createScenario(name: string, seed: number): { faultFor: FaultFor; stranger: boolean } {
  const shares = scenarios.get(name);
  if (shares === undefined)
    throw new Error(`scenario: expected one of ${scenarioNames.join(', ')}, got "${name}"`);
  const faultFor = (reference: string): Fault | undefined => {
    const position = shareOf(seed, reference);
    let upTo = 0;
    for (const [fault, share] of shares) {
      upTo += share;
      if (position < upTo) return fault;
    }
    return undefined;
  };
  return { faultFor, stranger: name === 'stranger' || name === 'chaos' };
}
