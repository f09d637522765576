import { sql } from 'kysely';
import { foldReference } from '../domain/ids.ts';
import type { Mode } from '../domain/payout.ts';
import { type Alive, aliveAncestors } from './lineage.ts';
import { latestRunFirst, newestCompleteRun } from './listings.ts';
import type { Trx } from './open.ts';
import { prepared } from './prepared.ts';
import { record } from './record.ts';
import { shownUnder } from './shown-under.ts';

/** The source of a hold that was made here; a person's `hold` names another. */
export const withholder = 'claim';

type Candidate = { id: bigint; reference: string; attempt_count: bigint; successor_of: bigint | null };

/**
 * Holds what would be paid twice if it were sent: a successor whose predecessor may not have failed after all (P20), and a
 * payout never sent from here whose reference the service lists already (P15), as when the ledger went back in time
 * (P25). Returns the payouts that remain.
 */
export async function withhold<P extends Candidate>(
  trx: Trx,
  mode: Mode,
  ready: readonly P[],
  at: string,
): Promise<P[]> {
  const reasons = await whyWithheld(trx, mode, ready);
  const holds = [...reasons].map(([payoutId, why]) => ({
    payoutId,
    source: withholder,
    event: { kind: 'hold' as const, why },
  }));
  await record(trx, at, holds);
  return ready.filter(({ id }) => !reasons.has(id));
}

/** Why some of these payouts must not be sent, whatever a person released, each with the way out. */
export async function whyWithheld(
  trx: Trx,
  mode: Mode,
  payouts: readonly Candidate[],
): Promise<Map<bigint, string>> {
  const successors = payouts.filter(({ successor_of }) => successor_of !== null);
  const alive = await aliveAncestors(
    trx,
    successors.map(({ id }) => id),
  );
  const reasons = new Map<bigint, string>();
  for (const { id, reference } of successors) {
    const before = alive.get(id);
    if (before) reasons.set(id, whyAlive(before, reference));
  }
  return new Map([...reasons, ...(await whyListed(trx, mode, payouts))]);
}

/** Why a successor must not be sent, and the way out for whoever finds that its predecessor was paid, or was not. */
function whyAlive({ reference: of, state, doubt }: Alive, reference: string): string {
  const drop = `counterfoil cancel ${reference}`;
  if (doubt === null)
    return `${of}, which it pays again, is ${state} after all: sending this one could pay twice. Leave it held, or drop it with ${drop} if it was never sent`;
  const { said, settle } = doubts[doubt];
  return `${said} ${of}, which it pays again, was not ${state} after all: sending this one could pay twice. Find out (counterfoil show ${of}). If it was paid: ${drop}. If not: ${settle(of)}, then release its batch`;
}

const doubts: Record<NonNullable<Alive['doubt']>, { said: string; settle: (of: string) => string }> = {
  list: {
    said: 'an open status_conflict says that',
    settle: () => 'counterfoil discrepancies lists the conflict: resolve it with a note',
  },
  details: {
    said: "the service's details say that",
    settle: (of) => `counterfoil retry ${of} asks the service again, until it agrees`,
  },
  webhook: {
    said: 'a webhook that no look-up has settled says that',
    settle: (of) => `counterfoil retry ${of} asks the service again, until it agrees`,
  },
};

/** Of these payouts, those never sent from here whose reference the service lists: neither sent nor cancelled (P15). */
export async function whyListed(
  trx: Trx,
  mode: Mode,
  payouts: readonly Candidate[],
): Promise<Map<bigint, string>> {
  const fresh = payouts.filter(({ attempt_count }) => attempt_count === 0n);
  const listed = await listedAlready(trx, mode, fresh);
  return new Map(
    fresh.flatMap(({ id, reference }) => {
      const run = listed.get(id);
      return run === undefined
        ? []
        : [
            [
              id,
              `the service already shows a transfer under ${reference} (run ${run}): sending it could pay twice. Find out who ordered that one. If it was paid from here before a restore: counterfoil restore --adopt, then counterfoil reconcile --full`,
            ] as const,
          ];
    }),
  );
}

const latestRuns = prepared<{ id: string }>((db, slot) =>
  db.selectFrom('runs').select('id').where('mode', '=', slot<Mode>(0)).orderBy(latestRunFirst).limit(4),
);

/** Which of these payouts the kept listings show under their references, with the run that showed it. */
async function listedAlready(
  trx: Trx,
  mode: Mode,
  payouts: readonly Candidate[],
): Promise<Map<bigint, string>> {
  if (payouts.length === 0) return new Map();
  const runs = await latestRuns(trx, [mode]);
  if (runs.length === 0) return new Map();
  // Runs that got no list may have followed it.
  const complete = await newestCompleteRun(trx, mode);
  if (complete) runs.push({ id: complete.id });
  const named = payouts.map(({ id, reference }) => ({ id, reference_key: foldReference(reference) }));
  const idOf = new Map(named.map(({ id, reference_key }) => [reference_key, id]));
  const rows = await shownUnder(trx, sql.join(runs.map(({ id }) => id)), named);
  return new Map(
    rows.flatMap(({ run_id, reference_key }) => {
      const id = idOf.get(reference_key);
      return id === undefined ? [] : [[id, run_id] as const];
    }),
  );
}
