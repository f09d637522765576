import { askDetails } from '../ledger/inquiries.ts';
import type { RecordEvent } from '../ledger/projection.ts';
import { record } from '../ledger/record.ts';
import type { Trx } from '../storage/ledger.ts';
import { type Alive, aliveAncestors } from './lineage.sql.ts';
import { heededRuns, type ShownAlready, shownAlready } from './shown-already.sql.ts';

/** The source of a hold that was made here; a person's `hold` names another. */
export const withholder = 'claim';

type Candidate = { id: bigint; reference: string; attempt_count: bigint; successor_of: bigint | null };

/**
 * Holds what would be paid twice if it were sent: a successor whose predecessor may not have failed after all (P20), and
 * what the service shows under its reference although it was never sent from here, or as something that has not failed
 * (P15), as when the ledger went back in time (P25). Returns the payouts that remain.
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

/** `by`: what speaks against it, of which all but the predecessor and the limit shows a transfer under its own reference. */
export type Withheld = { by: ShownAlready['by'] | 'predecessor' | 'limit'; why: string };

/** What is shown of what was sent before is for a person to decide about anew (P20); all else waits on hold. */
export function withholding(
  { id, attempt_count }: Pick<Candidate, 'id' | 'attempt_count'>,
  { by, why }: Withheld,
): RecordEvent {
  const waits = attempt_count === 0n || by === 'predecessor' || by === 'limit';
  return { payoutId: id, source: withholder, event: { kind: waits ? 'hold' : 'doubted', why, by } };
}

/** Why some of these payouts must not be sent, whatever a person released, each with the way out. */
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

/** Why a successor must not be sent, and the way out for whoever finds that its predecessor was paid, or was not. */
function whyAlive({ reference: of, state, doubt }: Alive, reference: string): string {
  const drop = `counterfoil cancel ${reference} (or, if it was sent before, counterfoil settle ${reference})`;
  if (doubt === null)
    return `${of}, which it pays again, is ${state} after all: sending this one could pay twice. Leave it held, or drop it with ${drop}`;
  const { said, settle } = doubts[doubt];
  return `${said} ${of}, which it pays again, was not ${state} after all: sending this one could pay twice. Find out (counterfoil show ${of}). If it was paid: ${drop}. If not: ${settle(of)}, then release its batch`;
}

const doubts: Record<NonNullable<Alive['doubt']>, { said: string; settle: (of: string) => string }> = {
  list: {
    said: 'an open status_conflict says that',
    settle: () => 'counterfoil discrepancies lists the conflict: resolve it with a note',
  },
  listed: {
    said: "the service's list, read since, says that",
    settle: () => 'counterfoil reconcile --full reads the list again, until it agrees',
  },
  details: {
    said: "the service's details say that",
    settle: (of) => `counterfoil retry ${of} asks the service again, until it agrees`,
  },
  person: {
    said: "no more than a person's word says that it was not paid; for all that the service says,",
    settle: (of) => `counterfoil retry ${of} asks the service, until it says so too`,
  },
  webhook: {
    said: 'a webhook that no look-up has settled says that',
    settle: (of) => `counterfoil retry ${of} asks the service again, until it agrees`,
  },
};
