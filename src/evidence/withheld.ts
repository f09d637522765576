import { askDetails } from '../ledger/inquiries.ts';
import type { RecordEvent } from '../ledger/projection.ts';
import { record } from '../ledger/record.ts';
import type { Trx } from '../storage/ledger.ts';
import { type Alive, aliveAncestors } from './lineage.sql.ts';
import { heededRuns, type ShownAlready, shownAlready } from './shown-already.sql.ts';

/** The source of a hold made here; a person's `hold` has another source. */
export const withholder = 'claim';

type Candidate = { id: bigint; reference: string; attempt_count: bigint; successor_of: bigint | null };

/**
 * Holds what would be paid twice if it were sent, and returns the payouts that remain. One case is a successor whose
 * predecessor may not have failed (P20). The other is a payout under whose reference the service shows a transfer (P15),
 * for example after the ledger went back in time (P25). If it was sent from here before, only a transfer that has not
 * failed counts.
 */
export async function withhold<P extends Candidate>(trx: Trx, ready: readonly P[], at: string): Promise<P[]> {
  const reasons = await withheldBy(trx, ready);
  const events = ready.flatMap((one) => {
    const reason = reasons.get(one.id);
    return reason ? [withholding(one, reason)] : [];
  });
  await record(trx, at, events);
  const asked = [...reasons].filter(([, { by }]) => by === 'webhook');
  await askDetails(
    trx,
    asked.map(([payoutId]) => ({
      payout_id: payoutId,
      reason: 'webhook_unsent',
      due_at: at,
    })),
  );
  return ready.filter(({ id }) => !reasons.has(id));
}

/**
 * Why a payout is not sent. All of `by` but `predecessor` and `limit` show a transfer under the payout's own reference.
 */
export type Withheld = { by: ShownAlready['by'] | 'predecessor' | 'limit'; why: string };

/**
 * The event that withholds a payout. One that was sent before and is shown needs a person's new decision (P20); all
 * others wait on hold.
 */
export function withholding(
  { id, attempt_count }: Pick<Candidate, 'id' | 'attempt_count'>,
  { by, why }: Withheld,
): RecordEvent {
  const waits = attempt_count === 0n || by === 'predecessor' || by === 'limit';
  return { payoutId: id, source: withholder, event: { kind: waits ? 'hold' : 'doubted', why, by } };
}

/** Why some of these payouts must not be sent, even when a person released them; each with the way out. */
export async function withheldBy(trx: Trx, payouts: readonly Candidate[]): Promise<Map<bigint, Withheld>> {
  const successors = payouts.filter(({ successor_of }) => successor_of !== null);
  const reasons = new Map<bigint, Withheld>();
  if (successors.length > 0) {
    const { since } = await heededRuns(trx);
    const alive = await aliveAncestors(
      trx,
      successors.map(({ id }) => id),
      since,
    );
    for (const { id, reference } of successors) {
      const before = alive.get(id);
      if (before) reasons.set(id, { by: 'predecessor', why: whyAlive(before, reference) });
    }
  }
  return new Map([...reasons, ...(await shownAlready(trx, payouts))]);
}

/** Why a successor must not be sent, and the way out if its predecessor was paid, or was not. */
function whyAlive({ reference: of, state, doubt }: Alive, reference: string): string {
  const drop = `counterfoil cancel ${reference} (or, if it was sent before, counterfoil settle ${reference})`;
  if (doubt === null)
    return `${of}, which it pays again, is now ${state}: sending this one could pay twice. Leave it held, or drop it with ${drop}`;
  const { but, settle } = doubts[doubt];
  return `${of}, which it pays again, is ${state} in the ledger, but ${but}: sending this one could pay twice. Find out (counterfoil show ${of}). If it was paid: ${drop}. If not: ${settle(of)}, then release its batch`;
}

const doubts: Record<NonNullable<Alive['doubt']>, { but: string; settle: (of: string) => string }> = {
  list: {
    but: 'an open status_conflict says otherwise',
    settle: () => 'counterfoil discrepancies lists the conflict: resolve it with a note',
  },
  listed: {
    but: "the service's list, read since, says otherwise",
    settle: () => 'counterfoil reconcile --full reads the list again, until it agrees',
  },
  details: {
    but: "the service's details say otherwise",
    settle: (of) => `counterfoil retry ${of} asks the service again, until it agrees`,
  },
  person: {
    but: 'only a person has said that it was not paid, and the service has not confirmed it',
    settle: (of) => `counterfoil retry ${of} asks the service, until it says so too`,
  },
  webhook: {
    but: 'a webhook that no look-up has settled says otherwise',
    settle: (of) => `counterfoil retry ${of} asks the service again, until it agrees`,
  },
};
