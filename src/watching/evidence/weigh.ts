import { createHash } from 'node:crypto';
import type { ServiceAccount } from '../../core/domain/origin.ts';
import { hasComeToNothing, type PayoutState } from '../../core/domain/payout.ts';
import { restsOnPerson } from '../../core/domain/transition.ts';
import { readStatus } from '../../core/domain/witness.ts';
import { contradictionIn } from '../../core/ledger/contradiction-columns.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { loadEvidence, type PayoutEvidence } from './evidence.sql.ts';
import { isHad, judge, type WhatMayBeDone } from './judge.ts';
import { type LookUpResult, lookUpResultOf } from './look-up-result.ts';
import { type Remedy, remediesFor } from './remedy.ts';
import { isOutrun, type Since } from './sends.ts';

/** One payout's evidence with what follows from it. `outrun`: older than the last attempt, so it says nothing (P4). */
export type WeighedCase = PayoutEvidence & {
  verdict: LookUpResult;
  judgement: WhatMayBeDone;
  /** The service is known to have it and every look-up showed it: nothing needs sending again. */
  had: boolean;
  /** The commands that end its state, or what is open about it. */
  remedies: Remedy[];
  outrun: { lookUp: boolean; listing: boolean };
};

/** The evidence that a person sees, and its digest: 12 hex digits that a decision must repeat (P20). */
export type Weighed = { cases: WeighedCase[]; digest: string };

/** Loads and judges the evidence of these payouts, by id. `prefix`: of new references. `account`: the one asked. */
export async function weigh(
  db: Db | Trx,
  by: { ids: readonly bigint[]; since: Since; prefix?: string; account?: ServiceAccount | null },
): Promise<Weighed> {
  const { ids, since, prefix, account } = by;
  const evidence = await loadEvidence(db, ids, { prefix, account });
  const cases = evidence.map((one) => ({
    ...one,
    verdict: lookUpResultOf(one),
    ...decidable(one, since),
    outrun: {
      // By the time of the answer: the question is not always known to be that late.
      lookUp: one.lookUp !== null && isOutrun(one, one.lookUp.answeredAt),
      listing: one.listing !== null && isOutrun(one, one.listing.startedAt),
    },
  }));
  return { cases, digest: evidenceDigest(cases) };
}

function decidable(one: PayoutEvidence, since: Since): Pick<WeighedCase, 'judgement' | 'had' | 'remedies'> {
  const judgement = judge(one, since);
  return { judgement, had: isHad(one), remedies: remediesFor(one, judgement) };
}

/** The digest of the facts that matter. The time of a look-up and the run that listed the payout do not count. */
export function evidenceDigest(cases: readonly WeighedCase[]): string {
  const facts = cases.map((one) => {
    const { payout, attempts, successor, cancelled, lookAlikes, discrepancies, webhooks } = one;
    return [
      payout.id.toString(),
      payout.state,
      ...standing(one),
      payout.unseen_sends.toString(),
      attempts.map(({ id, outcome }) => [id.toString(), outcome]),
      cancelled === null ? successor : `${cancelled.reference} cancelled`,
      listedNow(one),
      listedOtherwise(one),
      lookAlikes,
      discrepancies.map(({ id }) => id),
      webhooks.flatMap((one) => (contradictionIn('webhook', one.verdict, one) ? [one.id.toString()] : [])),
    ];
  });
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 12);
}

/**
 * What the state rests on. For a payout that came to nothing, an answer that agrees or says nothing changes nothing.
 * Intake asks about a file's payouts again: it must not refuse the file because of the answer that the file needs.
 */
function standing({ payout, verdict, contradiction }: WeighedCase): unknown[] {
  const { state, evidence, transfer_id, trx } = payout;
  if (!hasComeToNothing(state)) return [evidence, transfer_id, trx, verdict, contradiction];
  const quiet: LookUpResult[] = ['none', 'no_answer', 'no_witness', 'not_found', 'failed'];
  const news = verdict === state || quiet.includes(verdict) ? null : verdict;
  return [restsOnPerson(evidence), news, contradiction];
}

/**
 * What the last complete listing shows. A payout that came to nothing leaves the list's window one day, or was never on the
 * list: that it is listed as what it is, or is not listed, changes nothing. Nor does the first list that was ever read.
 */
function listedNow({ payout, listing }: WeighedCase): string[] | null {
  const { state } = payout;
  if (!hasComeToNothing(state)) return listing?.statuses ?? null;
  return (listing?.statuses ?? []).filter((status) => !agrees(state, readStatus(status)));
}

/** The statuses of later runs that differ from the ledger's state: each counts once, however many runs repeat it. */
function listedOtherwise({ payout, listedSince }: WeighedCase): string[] {
  const words = listedSince.map(({ status }) => readStatus(status) ?? 'pending');
  return [...new Set(words)].filter((word) => !agrees(payout.state, word)).toSorted();
}

/** P36: the service shows what came back as failed. */
function agrees(state: PayoutState, word: string | null): boolean {
  return word === state || (state === 'returned' && word === 'failed');
}
