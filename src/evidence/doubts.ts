import { type Contradiction, contradictionText } from '../domain/contradiction.ts';
import { whyElsewhere } from '../domain/origin.ts';
import { readStatus } from '../domain/witness.ts';
import { contradictionIn } from '../ledger/contradiction-columns.ts';
import type { Evidence } from './evidence.sql.ts';
import { type Verdict, verdictOf } from './look-up-verdict.ts';
import { isAskedSince as isAskedNow } from './sends.ts';

/** A transfer under our reference that is not ours in all it shows may be ours all the same (P15). */
export function contradicted(evidence: Evidence): string | null {
  const { contradiction, lookUp } = evidence;
  const against = contradiction ?? lookUp?.contradiction ?? null;
  return (
    against &&
    `the service shows a transfer under this reference that contradicts ours (${contradictionText(against)}); ask the service`
  );
}

/**
 * P31: it went to another account than the one that is asked now, whose silence proves nothing. A transfer that a look-up
 * made for this decision shows proves its own account.
 */
export function sentElsewhere(evidence: Evidence, since: string): string | null {
  const { elsewhere, lookUp } = evidence;
  if (!elsewhere) return null;
  const shown: Verdict[] = ['pending', 'success', 'failed', 'returned'];
  const isShown = lookUp !== null && isAskedNow(lookUp.askedAt, since) && shown.includes(verdictOf(evidence));
  return isShown ? null : whyElsewhere(elsewhere.went, elsewhere.asks);
}

/** P14: what the details said last stays said while later look-ups get no answer. */
export function revived({ revived: isRevived, payout }: Evidence): string | null {
  if (!isRevived) return null;
  return `the service's details have shown it on its way again since it failed, and have not said failed since; counterfoil retry ${payout.reference} asks again`;
}

/** Two final witnesses that disagree (P14): nothing is paid again before a run or a person has settled it. */
export function disputed({ discrepancies }: Evidence): string | null {
  const open = discrepancies.find(({ kind, actual }) => kind === 'status_conflict' && actual !== 'failed');
  if (!open) return null;
  return `discrepancy ${open.id} is open: the ledger says ${open.expected}, the service said ${open.actual}. Find out which; counterfoil discrepancies resolve ${open.id} --note settles it once it is known that it was not paid`;
}

type Heard = Evidence['webhooks'][number];

/**
 * A webhook that says it was paid, or contradicts it otherwise, newer than the look-up or the listing that says it was
 * not: the question that it raised (P14) has no answer yet.
 */
export function heardAgainst(evidence: Evidence): string | null {
  const { payout, webhooks } = evidence;
  const last = webhooks.findLast((one) => {
    if (isStale(one)) return !isAnswered(evidence, one);
    return isAgainst(one, payout.state) && !isDenied(evidence, one);
  });
  if (!last) return null;
  const told = isStale(last) ? 'its timestamp was not of then, which proves nothing' : saidBy(last);
  return `a webhook received ${last.received_at} contradicts it (${told}), and the service has not said otherwise since; counterfoil retry ${payout.reference} asks it`;
}

/** The header that makes it stale is not signed: whoever passed it on may have written that. One that says failed speaks for nothing. */
function isStale({ verdict, said }: Heard): boolean {
  return verdict === 'stale' && said !== 'failed';
}

/** A look-up asked since was answered, whatever it said: it is heard by itself. */
function isAnswered(evidence: Evidence, webhook: Heard): boolean {
  const unclear: Verdict[] = ['none', 'no_answer', 'no_witness'];
  return isAskedSince(evidence, webhook) && !unclear.includes(verdictOf(evidence));
}

/** What the service said since, details or a whole list, agrees with the ledger and not with the webhook. */
function isDenied(evidence: Evidence, webhook: Heard): boolean {
  const { payout, listing } = evidence;
  const agreeing = agreeingWords(payout.state);
  if (isAskedSince(evidence, webhook) && agreeing.includes(verdictOf(evidence))) return true;
  const statuses = listing?.statuses.map((status) => readStatus(status)) ?? [];
  const agrees = statuses.length > 0 && statuses.every((word) => word !== null && agreeing.includes(word));
  if (!listing || !agrees || listing.startedAt <= webhook.received_at) return false;
  return webhook.entry === null || listing.mark === null || listing.mark >= webhook.entry;
}

/** By the history too: a clock that was set back makes an older answer the later one. */
function isAskedSince({ lookUp }: Evidence, { received_at, entry, told }: Heard): boolean {
  if (!lookUp || lookUp.askedAt < received_at) return false;
  return entry === null || (told !== null && told > entry);
}

function isAgainst(webhook: Heard, state: string): boolean {
  const { verdict, said } = webhook;
  // What came back was paid before.
  if (verdict === 'says') return said === 'success' && state !== 'returned';
  return verdict === 'against_webhook' ? said !== 'failed' : contradictionOf(webhook) !== null;
}

function saidBy(webhook: Heard): string {
  const against = contradictionOf(webhook);
  return against ? contradictionText(against) : `says ${webhook.said}`;
}

function contradictionOf(webhook: Heard): Contradiction | null {
  return contradictionIn('webhook', webhook.verdict, webhook);
}

/** The service's words that agree with a state in which the payout came to nothing. */
function agreeingWords(state: string): Verdict[] {
  if (state === 'returned') return ['failed', 'returned'];
  // A refusal is a proof of its own (P6), and of an unknown a person decides: an answer without the transfer is enough.
  return state === 'refused' || state === 'unknown' ? ['failed', 'not_found'] : ['failed'];
}
