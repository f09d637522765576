/**
 * The result of one bank_transfer POST. Only `accepted`, `refused`, `not_sent` and `turned_away` are proven. Everything
 * else is `unknown`: the service may have taken it (P4-P8).
 */
export type AttemptOutcome =
  | {
      kind: 'accepted';
      transferId: string;
      status: 'pending' | 'success' | 'failed';
      httpStatus: number;
      message: string;
      raw: string;
    }
  | { kind: 'refused'; code: string; httpStatus: number; message: string; raw: string }
  | { kind: 'not_sent'; message: string }
  | {
      kind: 'turned_away';
      retryAfterMs: number | null;
      httpStatus: number;
      code: string | null;
      message: string;
      raw: string;
    }
  | {
      kind: 'unknown';
      code: string | null;
      httpStatus: number | null;
      message: string;
      raw: string;
      halts: boolean;
    };

export const attemptOutcomes = ['accepted', 'refused', 'not_sent', 'turned_away', 'unknown'] as const;

/** False only for attempts proven not taken; `null`: the POST is in flight (P4). */
export function mayHaveBeenTaken(outcome: string | null): boolean {
  return outcome !== 'refused' && outcome !== 'not_sent' && outcome !== 'turned_away';
}

/** How many sends there were, whatever came of them: attempts not proven not sent (P7), and forgotten ones (P25). */
export function countSends(attempts: readonly { outcome: string | null }[], unseenSends: bigint): number {
  return attempts.filter(({ outcome }) => outcome !== 'not_sent').length + Number(unseenSends);
}

/** How many sends the service may have taken: these attempts, and those that a ledger which went back forgot (P17, P25). */
export function countPossiblyTaken(
  attempts: readonly { outcome: string | null }[],
  unseenSends: bigint,
): number {
  return attempts.filter(({ outcome }) => mayHaveBeenTaken(outcome)).length + Number(unseenSends);
}

/** P17: true if other transfers than those shown may have been taken. One POST makes one; a list that may lack some shows 0. */
export function lacksTransfers(
  { possiblyTaken, forgotten }: { possiblyTaken: number; forgotten?: boolean },
  { transfers = 0 }: { transfers?: number | undefined },
): boolean {
  return (possiblyTaken > 1 || forgotten === true) && transfers < possiblyTaken;
}
