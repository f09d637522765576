import type { Random } from './random.ts';

/** Which brakes the office has set, and how tight they are. Amounts in minor units of NGN. */
export type BrakeWeather = {
  approval: 'none' | 'always' | 'above';
  approvalAbove: number;
  /** The rule of approvals is written into the configuration this late: processes that run already do not know it. */
  approvalFromMs: number;
  /** Files are taken in and left for the daemon to send, as by `submit --no-wait`. */
  takesOnly: boolean;
  dailyLimit: number | null;
  payoutLimit: number | null;
  canary: number;
  canaryHours: number;
  /** Rows name the day of their payment: today, tomorrow, the day after. */
  dates: boolean;
  /** Files are brought in on other hosts too, whose clocks are off by days. */
  hosts: boolean;
  /** Only rows whose payee changed wait for a second person (P37). */
  changedRows: boolean;
  /** Whose days the daily limit counts, and rows name. */
  timezone: string;
};

export const noBrakesSet: BrakeWeather = {
  approval: 'none',
  approvalAbove: 0,
  approvalFromMs: 0,
  takesOnly: false,
  dailyLimit: null,
  payoutLimit: null,
  canary: 0,
  canaryHours: 4,
  dates: false,
  hosts: false,
  changedRows: false,
  timezone: 'Africa/Lagos',
};

/** A brake that a day must have; the seed decides all else. */
export const brakeNames = ['approval', 'daily limit', 'payout limit', 'canary', 'day of payment'] as const;
export type BrakeName = (typeof brakeNames)[number];

/** West of UTC and far east of it, midnight is in the middle of what a simulated day lives through. */
const zones = ['Africa/Lagos', 'America/Los_Angeles', 'Pacific/Auckland', 'Asia/Kolkata'] as const;

/** When the rule of approvals comes while batches are on their way. */
const soon = [1_300, 2_000, 5_000, 600_000, 7_200_000] as const;

/** What a row of batch `number` is about, at least: `writeBatch` makes them so. */
const smallestAmount = 101_000;

export function drawBrakes(
  random: Random,
  batches: readonly number[],
  wished: BrakeName | null,
): BrakeWeather {
  const wants = (name: BrakeName, likely: number): boolean => random.chance(likely) || wished === name;
  const largest = amountOf(batches.length, Math.max(...batches));
  const total = batches.reduce((sum, size, i) => sum + size * amountOf(i + 1, 0), 0);
  const wantsApproval = wants('approval', 0.55);
  return {
    approval: wantsApproval
      ? random.chance(wished === 'approval' ? 0.85 : 0.5)
        ? 'always'
        : 'above'
      : 'none',
    approvalAbove: random.between(3, 12) * smallestAmount,
    approvalFromMs: random.chance(wished === 'approval' ? 0.4 : 0.7) ? random.pick(soon) : 0,
    takesOnly: random.chance(wished === 'approval' ? 0.9 : 0.2),
    dailyLimit: wants('daily limit', 0.3)
      ? Math.max(largest, Math.ceil(total / random.pick(wished === 'daily limit' ? [2.5, 4] : [1.3, 2.5])))
      : null,
    payoutLimit: wants('payout limit', 0.15) ? amountOf(1, random.between(0, 10)) : null,
    canary: wants('canary', 0.7) ? random.between(1, 4) : 0,
    canaryHours: random.pick([1, 4]),
    timezone: random.pick(zones),
    dates: wants('day of payment', 0.25),
    hosts: false,
    changedRows: false,
  };
}

/** What row `i` of batch `number` pays. */
export function amountOf(number: number, i: number): number {
  return 100_000 + number * 1_000 + i;
}

/** `submission` of the configuration as it is `ms` into the day. */
export function brakeSettings(brakes: BrakeWeather, ms: number): Record<string, unknown> {
  const naira = (minor: number): string => (minor / 100).toFixed(2);
  const asks = brakes.approval !== 'none' && ms >= brakes.approvalFromMs;
  return {
    approval: asks ? brakes.approval : 'none',
    approval_above: asks && brakes.approval === 'above' ? { NGN: naira(brakes.approvalAbove) } : {},
    daily_limit: brakes.dailyLimit === null ? {} : { NGN: naira(brakes.dailyLimit) },
    payout_limit: brakes.payoutLimit === null ? {} : { NGN: naira(brakes.payoutLimit) },
    canary: brakes.canary,
    canary_hours: brakes.canaryHours,
    timezone: brakes.timezone,
    ...(brakes.changedRows && { payees: 'approve_changed', on_changed: 'rows' }),
  };
}
