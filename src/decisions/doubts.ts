import { readStatus } from '../domain/witness.ts';
import type { Evidence } from '../ledger/evidence.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/** A transfer under our reference that is not ours in all it shows may be ours all the same (P15). */
export function contradicted(evidence: Evidence): string | null {
  const { contradiction, lookUp } = evidence;
  const said = contradiction ?? (verdictOf(evidence) === 'conflict' ? (lookUp?.outcome ?? '') : null);
  if (said === null) return null;
  const told = said.replace(/^conflict:?\s*/, '');
  return `the service shows a transfer under this reference that contradicts ours (${told}); ask the service`;
}

/** Two final witnesses that disagree (P14): nothing is paid again before a run or a person has settled it. */
export function disputed({ discrepancies }: Evidence): string | null {
  const open = discrepancies.find(({ kind, actual }) => kind === 'status_conflict' && actual !== 'failed');
  if (!open) return null;
  return `discrepancy ${open.id} is open: the ledger says ${open.expected}, the service said ${open.actual}. Find out which; counterfoil discrepancies resolve ${open.id} --note settles it once it is known that it was not paid`;
}

/**
 * A webhook that says it was paid, or contradicts it otherwise, newer than the look-up or the listing that says it was
 * not: the question that it raised (P14) has no answer yet.
 */
export function heardAgainst(evidence: Evidence): string | null {
  const { payout, webhooks, listing, lookUp } = evidence;
  const last = webhooks.findLast(({ effect }) => isAgainst(effect ?? '', payout.state));
  if (!last) return null;
  const agreeing = agreeingWords(payout.state);
  if (lookUp && lookUp.askedAt >= last.received_at && agreeing.includes(verdictOf(evidence))) return null;
  const statuses = listing?.statuses.map((status) => readStatus(status)) ?? [];
  const agrees = statuses.length > 0 && statuses.every((word) => word !== null && agreeing.includes(word));
  if (listing && listing.startedAt > last.received_at && agrees) return null;
  const told = (last.effect ?? '').replace(/^conflict:?\s*/, '');
  return `a webhook received ${last.received_at} contradicts it (${told}), and the service has not said otherwise since; counterfoil retry ${payout.reference} asks it`;
}

function isAgainst(effect: string, state: string): boolean {
  if (effect.startsWith('conflict')) return !effect.startsWith('conflict: a webhook says failed');
  // What came back was paid before.
  return effect === 'says success' && state !== 'returned';
}

/** The service's words that agree with a state in which the payout came to nothing. */
function agreeingWords(state: string): Verdict[] {
  if (state === 'returned') return ['failed', 'returned'];
  // A refusal is a proof of its own (P6), beside which an answer without the transfer is enough.
  return state === 'refused' ? ['failed', 'not_found'] : ['failed'];
}
