import { payableThrough } from '../core/domain/pay-day.ts';
import type { Brakes } from './brakes.ts';

/** What may be claimed: only these batches, only these payouts; everything when absent. */
export type ClaimScope = { batches?: readonly string[]; payouts?: readonly bigint[] };

/** Payouts that the service's answers allow to be sent, each with its number of attempts when the service was asked. */
export type Cleared = ReadonlyMap<bigint, bigint>;

/**
 * The brakes of the configuration, and the present time, ISO UTC. `serviceNow`: the same by the service, as
 * {@link payableThrough} has it; absent: null.
 */
export type Under = { brakes: Brakes; at: string; serviceNow?: number | null | undefined };

/** The newest day whose payouts may go (P38). */
export function throughDay(under: Under): string {
  const { at, brakes, serviceNow } = under;
  return payableThrough({ at, serviceNow: 'serviceNow' in under ? serviceNow : null }, brakes.timezone);
}

export type ClaimRequest = ClaimScope &
  Under & {
    workerId: string;
    limit: number;
    /** Where this process sends (P31). */
    originId: bigint;
    /** Our clock less the service's, in ms; null: not known. */
    clockOffMs?: number | null;
    /** What the service's answers of the last two minutes allow. Payouts that were never sent need no answer. */
    cleared: Cleared;
    /** The batches that this sender has begun: their files need no further mark. It grows. */
    begun?: Set<string>;
  };
