import type { Random } from './random.ts';

const hour = 3_600_000;

/** What keeps the service's list from being proven complete (P28): a row of next year, or a total that counts one more. */
export const listFlawKinds = ['a stranger of next year', 'counts one more'] as const;
export type ListFlawKind = (typeof listFlawKinds)[number];

/** When the list has it, by the time of the day; `untilMs` null: for ever. */
export type ListFlaw = { kind: ListFlawKind; fromMs: number; untilMs: number | null };

/** Mostly from the beginning: what an adopted ledger waits for is the list of the first hours. */
export function drawListFlaw(random: Random): ListFlaw {
  const fromMs = random.chance(0.7) ? 0 : random.between(0, 3 * hour);
  return {
    kind: random.pick(listFlawKinds),
    fromMs,
    untilMs: random.chance(0.8) ? null : fromMs + random.between(3 * hour, 9 * hour),
  };
}

/** The transfer of somebody else that the list dates next year, while it has this flaw. */
export const stranger = {
  reference: 'stranger-1',
  amount: '77.77',
  currency: 'NGN',
  account_number: '9999999999',
  account_name: 'Nobody we know',
  bank_code: '000013',
  narration: 'Rent',
} as const;
