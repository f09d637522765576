import { createHash } from 'node:crypto';
import type { Mode } from '../domain/payout.ts';
import { type Evidence, loadEvidence } from '../ledger/evidence.ts';
import type { Db, Trx } from '../ledger/open.ts';
import { type Judgement, judge, type Verdict, verdictOf } from './judge.ts';
import { isOutrun } from './sends.ts';

/** `outrun`: the look-up, the listing is older than the last attempt and says nothing of it (P4). */
export type Case = Evidence & {
  verdict: Verdict;
  judgement: Judgement;
  outrun: { lookUp: boolean; listing: boolean };
};

/** The evidence a person is shown, and its digest: 12 hex digits that a decision must repeat (P20). */
export type Weighed = { cases: Case[]; digest: string };

/** Loads and judges the evidence of these payouts, by id. */
export async function weigh(
  db: Db | Trx,
  { mode, ids, since }: { mode: Mode; ids: readonly bigint[]; since: string },
): Promise<Weighed> {
  const evidence = await loadEvidence(db, mode, ids);
  const cases = evidence.map((one) => ({
    ...one,
    verdict: verdictOf(one),
    judgement: judge(one, since),
    outrun: {
      // By its answer: when it was asked is not always known to be that late.
      lookUp: one.lookUp !== null && isOutrun(one, one.lookUp.answeredAt),
      listing: one.listing !== null && isOutrun(one, one.listing.startedAt),
    },
  }));
  return { cases, digest: digestOf(cases) };
}

/** Over facts that only change with what is known: when a look-up was made, and which run listed it, does not count. */
function digestOf(cases: readonly Case[]): string {
  const facts = cases.map(
    ({ payout, attempts, successor, verdict, listing, lookAlikes, discrepancies, webhooks }) => [
      payout.id.toString(),
      payout.state,
      payout.evidence,
      payout.transfer_id,
      payout.trx,
      payout.unseen_sends.toString(),
      attempts.map(({ id, outcome }) => [id.toString(), outcome]),
      successor,
      verdict,
      listing?.statuses ?? null,
      lookAlikes,
      discrepancies.map(({ id }) => id),
      webhooks.flatMap(({ id, effect }) => (effect?.startsWith('conflict') ? [id.toString()] : [])),
    ],
  );
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 12);
}
