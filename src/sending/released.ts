import type { AdvisedReason } from '../core/domain/advice.ts';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { RecordEvent } from '../core/ledger/projection.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import { type Withheld, withholding } from '../watching/evidence/withheld.ts';

const shownKept = 10;

type Reasoned = { reference: string } & AdvisedReason;

/** What a release let go, and what it did not: how many, and the first of them with the reason. */
export type Released = {
  moved: number;
  /** Stay held. */
  kept: number;
  first: Reasoned[];
  /** Retries that are unknown again, since the service shows a transfer. */
  doubted: number;
  firstDoubted: Reasoned[];
  /** The reasons that keep all of it held, or its marked rows: only another command lifts them. */
  stays: HoldReason[];
};

/** Counts a payout that a release did not let go: it stays held, or is unknown again. */
export function countKept(row: HeldBack, reason: Withheld, pass: Released): void {
  const unknown = releaseOf(row, reason, 'person').at(-1)?.event.kind === 'doubted';
  if (unknown) pass.doubted++;
  else pass.kept++;
  const first = unknown ? pass.firstDoubted : pass.first;
  const { why, advice } = reason;
  if (first.length < shownKept) first.push({ reference: row.reference, why, advice });
}

type HeldBack = Pick<Payout, 'id' | 'reference' | 'submitted_at' | 'withheld_by' | 'message'>;

/**
 * The events of one payout in a release. One that must not be sent is held again under its own reason, unless it is held
 * for that already. Of a predecessor the state may have changed, and with it the way out that the message names.
 */
export function releaseOf(
  row: Omit<HeldBack, 'reference'>,
  reason: Withheld | undefined,
  source: string,
): RecordEvent[] {
  if (reason && reason.by === row.withheld_by && (reason.by !== 'predecessor' || reason.why === row.message))
    return [];
  const released: RecordEvent = { payoutId: row.id, source, event: { kind: 'release' } };
  return reason === undefined ? [released] : [released, withholding(row, reason)];
}
