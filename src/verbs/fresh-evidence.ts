import type { App } from '../app/app.ts';
import { cameToNothing, type PayoutState, payoutStates } from '../core/domain/payout.ts';
import type { Decided } from '../sending/decisions/retry-payout.ts';
import type { Weighed, WeighedCase } from '../watching/evidence/weigh.ts';
import { type Refused, refusedFor } from './obstacles.ts';
import { retryVerb } from './retry.ts';
import { type SettleOutcome, settleVerb } from './settle.ts';
import type { Person } from './verb.ts';

type Parts = Pick<App, 'applyWebhooks' | 'clock' | 'decisions' | 'lookUps' | 'reporting' | 'takeOver'> & {
  signal: AbortSignal;
};

/** What is asked about first: a held payout may be held because of an old answer, and a pending one may have ended. */
const askedBeforeRetry: readonly PayoutState[] = [...cameToNothing, 'unknown', 'held', 'pending'];
/** A payout that is being sent gets its answer from the request. */
const askedBeforeSettling = payoutStates.filter((state) => state !== 'sending');

/** What a person sees before the decision, and the time since when it was asked for, ISO UTC. */
export type FreshCase = { kind: 'seen'; one: WeighedCase; shown: Weighed; since: string };

/** The evidence of one payout, after the service was asked about it again (P20). */
export async function freshEvidence(
  parts: Parts,
  reference: string,
  to: 'retry' | 'settle',
): Promise<FreshCase | Refused> {
  const { applyWebhooks, clock, decisions, lookUps, takeOver, signal } = parts;
  const [payout] = (await decisions.find([reference])).payouts;
  if (!payout) return refusedFor({ kind: 'no_payout', references: [reference] });
  await takeOver();
  await applyWebhooks(signal);
  const since = clock.iso();
  const [now] = await decisions.standingOf([payout.id]);
  const states = to === 'retry' ? askedBeforeRetry : askedBeforeSettling;
  if (now && states.includes(now.state)) await lookUps.lookUp([payout.id], signal);
  const shown = await decisions.weigh([payout.id], since);
  const [one] = shown.cases;
  if (!one) throw new Error(`no evidence about ${reference}`);
  return { kind: 'seen', one, shown, since };
}

/** `cannot`: the evidence does not allow it. `look`: it is not what the person saw, or they saw none. */
type NotDecided = { kind: 'cannot'; one: WeighedCase } | { kind: 'look'; shown: Weighed };

/** Orders one payout again where the person saw this evidence; `evidence` is its digest. The next submit sends it. */
export async function retryOnEvidence(
  parts: Parts,
  { reference, evidence }: { reference: string; evidence?: string | undefined },
  person: Person,
): Promise<NotDecided | { kind: 'decided'; shown: Weighed; decided: Decided[] } | Refused> {
  const seen = await freshEvidence(parts, reference, 'retry');
  if (seen.kind === 'refused') return seen;
  const { one, shown, since } = seen;
  if (one.judgement.kind === 'no') return { kind: 'cannot', one };
  if (evidence !== shown.digest) return { kind: 'look', shown };
  const done = await retryVerb.run(parts, { references: [reference], since, digest: shown.digest }, person);
  if (done.kind === 'refused') return done;
  return done.kind === 'changed' ? { kind: 'look', shown: done.now } : { ...done, shown };
}

/** Closes one payout by a person's decision (P32). Without `evidence`, on what the service says now. */
export async function settleOnEvidence(
  parts: Parts,
  order: { reference: string; as: 'success' | 'failed'; note: string; evidence?: string | undefined },
  person: Person,
): Promise<NotDecided | { kind: 'settled'; shown: Weighed; settled: SettleOutcome['settled'] } | Refused> {
  const { reference, as, note, evidence } = order;
  const seen = await freshEvidence(parts, reference, 'settle');
  if (seen.kind === 'refused') return seen;
  const { one, shown, since } = seen;
  if (!one.remedies.includes('settle')) return { kind: 'cannot', one };
  if (evidence !== undefined && evidence !== shown.digest) return { kind: 'look', shown };
  const payouts = [{ reference: one.payout.reference, digest: shown.digest }];
  const done = await settleVerb.run(parts, { payouts, as, note, since }, person);
  if (done.kind === 'refused') return done;
  if (done.settled.length > 0) return { kind: 'settled', shown, settled: done.settled };
  return { kind: 'look', shown: await parts.decisions.weigh([one.payout.id], since) };
}
