import type { Advice, AdvisedReason } from '../../core/domain/advice.ts';
import type { WithheldBy } from '../../core/domain/payout.ts';
import { askDetails } from '../../core/ledger/inquiries.ts';
import type { RecordEvent } from '../../core/ledger/projection.ts';
import { record } from '../../core/ledger/record.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { Payout } from '../../core/storage/tables/tables.ts';
import { type Alive, aliveAncestors } from './lineage.sql.ts';
import { adviceOnShown, heededRuns, shownAlready } from './shown-already.sql.ts';

/** The source of a hold made here; a person's `hold` has another source. */
export const withholder = 'claim';

type Candidate = { id: bigint; reference: string; submitted_at: string | null; successor_of: bigint | null };

/**
 * Holds what would be paid twice if it were sent, and returns the payouts that remain. One case is a successor whose
 * predecessor may not have failed (P20). The other is a payout under whose reference the service shows a transfer (P15),
 * for example after the ledger went back in time (P25). If it was sent from here before, only a transfer that has not
 * failed counts. `originId`: where they would be sent (P31).
 */
export async function withhold<P extends Candidate>(
  trx: Trx,
  ready: readonly P[],
  { at, originId }: { at: string; originId: bigint },
): Promise<P[]> {
  const reasons = await withheldBy(trx, ready, originId);
  const events = ready.flatMap((one) => {
    const reason = reasons.get(one.id);
    return reason ? [withholding(one, reason)] : [];
  });
  await record(trx, at, events);
  const asked = [...reasons].filter(([, { by }]) => by === 'webhook');
  await askDetails(
    trx,
    asked.map(([payoutId]) => ({ payout_id: payoutId, reason: 'webhook_unsent', due_at: at })),
  );
  return ready.filter(({ id }) => !reasons.has(id));
}

/**
 * Why a payout is not sent. All of `by` but `predecessor` and `limit` show a transfer under the payout's own reference.
 */
export type Withheld = { by: Exclude<WithheldBy, 'answer'> } & AdvisedReason;

/** The event that withholds a payout: one sent before and shown needs a new decision (P20), all others wait on hold. */
export function withholding(
  { id, submitted_at }: Pick<Candidate, 'id' | 'submitted_at'>,
  { by, why }: Withheld,
): RecordEvent {
  const waits = submitted_at === null || by === 'predecessor' || by === 'limit';
  return { payoutId: id, source: withholder, event: { kind: waits ? 'hold' : 'doubted', why, by } };
}

/** Why some of these must not be sent, even when released, with the way out. `originId`: where they would be sent. */
export async function withheldBy(
  trx: Db | Trx,
  payouts: readonly Candidate[],
  originId?: bigint,
): Promise<Map<bigint, Withheld>> {
  const successors = payouts.filter(({ successor_of }) => successor_of !== null);
  const reasons = new Map<bigint, Withheld>();
  if (successors.length > 0) {
    const { since } = await heededRuns(trx, originId);
    const ids = successors.map(({ id }) => id);
    const alive = await aliveAncestors(trx, ids, since);
    for (const { id, reference } of successors) {
      const before = alive.get(id);
      if (before) reasons.set(id, { by: 'predecessor', ...reasonAlive(before, reference) });
    }
  }
  return new Map([...reasons, ...(await shownAlready(trx, payouts, originId))]);
}

/** The way out for a held payout, as far as its own columns tell it: a release says more of a predecessor. */
export function adviceOnHeld(
  payout: Pick<Payout, 'reference' | 'batch_id' | 'submitted_at' | 'withheld_by'>,
): Advice {
  const { reference, batch_id: batch, withheld_by: by } = payout;
  switch (by) {
    case null:
      return { kind: 'release', batch };
    case 'limit':
      return { kind: 'raise_limit', reference };
    case 'predecessor':
    case 'answer':
      return { kind: 'find_predecessor', reference, batch };
    case 'list':
    case 'details':
    case 'webhook':
      return adviceOnShown(by, payout);
  }
}

/** Why a successor must not be sent, and the way out if its predecessor was paid, or was not. */
function reasonAlive({ reference: of, state, doubt }: Alive, reference: string): AdvisedReason {
  if (doubt === null) {
    const why = `${of}, which it pays again, is now ${state}: sending this one could pay twice`;
    return { why, advice: { kind: 'drop', reference } };
  }
  const why = `${of}, which it pays again, is ${state} in the ledger, but ${doubts[doubt]}: sending this one could pay twice`;
  const by = doubt === 'list' || doubt === 'listed' ? doubt : 'answer';
  return { why, advice: { kind: 'clear_predecessor', reference, of, by } };
}

const doubts: Record<NonNullable<Alive['doubt']>, string> = {
  list: 'an open status_conflict says otherwise',
  listed: "the service's list, read since, says otherwise",
  details: "the service's details say otherwise",
  person: 'only a person has said that it was not paid, and the service has not confirmed it',
  webhook: 'a webhook that no look-up has settled says otherwise',
};
