import type { App } from '../app/app.ts';
import { cameToNothing, type PayoutState } from '../core/domain/payout.ts';
import type { Decided } from '../sending/decisions/retry-payout.ts';
import type { Weighed, WeighedCase } from '../watching/evidence/weigh.ts';
import { loadedFor, type Refused, refusedFor } from './obstacles.ts';
import { askedBeforeRetry, retryVerb } from './retry.ts';
import { askedBeforeSettling, type SettleOutcome, settleVerb } from './settle.ts';
import type { Person } from './verb.ts';

type Parts = Pick<App, 'applyWebhooks' | 'clock' | 'decisions' | 'lookUps' | 'reporting' | 'takeOver'> & {
  signal: AbortSignal;
};

/** What a person sees before the decision, and the time since when it was asked for, ISO UTC. */
export type FreshCase = { kind: 'seen'; one: WeighedCase; shown: Weighed; since: string };

/** The evidence of one payout, after the service was asked about it again (P20). */
export async function freshEvidence(
  parts: Parts,
  reference: string,
  to: 'retry' | 'settle',
): Promise<FreshCase | Refused> {
  const [payout] = (await parts.decisions.find([reference])).payouts;
  if (!payout) return refusedFor({ kind: 'no_payout', references: [reference] });
  const states: readonly PayoutState[] = to === 'retry' ? askedBeforeRetry : askedBeforeSettling;
  const { shown, since } = await askAfresh(parts, [payout.id], states);
  const [one] = shown.cases;
  if (!one) throw new Error(`no evidence about ${reference}`);
  return { kind: 'seen', one, shown, since };
}

/** Asks the service about those of the payouts that are in these states, and weighs them all. */
async function askAfresh(
  { applyWebhooks, clock, decisions, lookUps, takeOver, signal }: Parts,
  ids: readonly bigint[],
  states: readonly PayoutState[],
): Promise<{ shown: Weighed; since: string }> {
  await takeOver();
  await applyWebhooks(signal);
  const since = clock.iso();
  const now = await decisions.standingOf(ids);
  const asked = now.filter(({ state }) => states.includes(state)).map(({ id }) => id);
  if (asked.length > 0) await lookUps.lookUp(asked, signal);
  return { shown: await decisions.weigh(ids, since), since };
}

/** So many payouts of a batch are paid again in one decision: a person waits while the service is asked about each. */
const mostAtOnce = 100;

/** The evidence of what is unpaid of a batch, asked for just now (P20). `left`: how many more there are. */
export async function freshUnpaid(
  parts: Parts & Pick<App, 'ledger'>,
  batch: string,
): Promise<{ kind: 'seen'; shown: Weighed; left: number } | Refused> {
  const found = await loadedFor(parts.ledger.db, batch);
  if (found.kind === 'refused') return found;
  const ids: bigint[] = [];
  let total = 0;
  for (const state of cameToNothing) {
    const some = await parts.decisions.findInBatch(batch, state, mostAtOnce - ids.length);
    ids.push(...some.ids);
    total += some.count;
  }
  const { shown } = await askAfresh(parts, ids, askedBeforeRetry);
  return { kind: 'seen', shown, left: total - ids.length };
}

/** Pays these again where the person saw this evidence of all of them. Those that it does not allow are left out. */
export async function retryAllOnEvidence(
  parts: Parts,
  { references, evidence }: { references: readonly string[]; evidence: string },
  person: Person,
): Promise<{ kind: 'look' } | { kind: 'decided'; decided: Decided[] } | Refused> {
  const { payouts, missing } = await parts.decisions.find(references);
  if (missing.length > 0) return refusedFor({ kind: 'no_payout', references: missing });
  const ids = payouts.map(({ id }) => id);
  const { shown, since } = await askAfresh(parts, ids, askedBeforeRetry);
  if (shown.digest !== evidence) return { kind: 'look' };
  const order = { references: [...references], since, digest: evidence };
  const done = await retryVerb.run(parts, order, person);
  return done.kind === 'changed' ? { kind: 'look' } : done;
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
