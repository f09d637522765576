import { type Found, type FoundFields, finding, unknownAction } from '../domain/discrepancy.ts';
import { formatMinor } from '../domain/money.ts';
import type { WatchedPayout } from '../ledger/watched.ts';

/** A payout the complete listing lacks and a look-up of this run did not find (contract.md, "Kinds"). */
export function missing(payout: WatchedPayout, cut: string): Found {
  return finding('missing_at_service', payout.reference, {
    ...identity(payout),
    expected: `${payout.state} ${amountOf(payout)}`,
    actual: 'not listed, not found',
    difference: payout.state === 'failed' ? '' : `-${amountOf(payout)}`,
    severity: payout.state === 'failed' ? 'medium' : 'high',
    evidence: `a complete listing up to ${cut} lacks it and its details look-up did not find it; ledger: ${payout.evidence}`,
  });
}

/** An unknown that this run's listing and look-ups did not resolve; graver once its quiet period is over (P19). */
export function unknown(
  payout: WatchedPayout,
  quiet: { since: string; minutes: number; now: string },
): Found {
  const watchedUntil = shift(quiet.since, quiet.minutes * 60_000);
  const fields: FoundFields = {
    ...identity(payout),
    expected: amountOf(payout),
    actual: 'unknown',
    difference: '',
    severity: quiet.now < watchedUntil ? 'medium' : 'high',
    evidence: `unknown since ${quiet.since}: ${payout.message ?? 'no answer'}`,
  };
  return finding(
    'unknown_outcome',
    payout.reference,
    fields,
    unknownAction(payout.reference, watchedUntil, quiet.now),
  );
}

/** Pending for longer than `stale_pending_hours`. */
export function stale(payout: WatchedPayout): Found {
  return finding('stale_pending', payout.reference, {
    ...identity(payout),
    expected: 'success or failed',
    actual: 'pending',
    difference: '',
    severity: 'medium',
    evidence: `submitted ${payout.submitted_at}, pending by ${payout.evidence}`,
  });
}

/** Final for longer than `webhook_grace_minutes` and no authentic webhook heard. */
export function unheard(payout: WatchedPayout): Found {
  return finding('webhook_missing', payout.reference, {
    ...identity(payout),
    expected: 'a webhook',
    actual: 'none heard',
    difference: '',
    severity: 'low',
    evidence: `${payout.state} since ${payout.final_at} by ${payout.evidence}`,
  });
}

/** Was success, then reversed or refunded. */
export function returned(payout: WatchedPayout): Found {
  return finding('returned_after_success', payout.reference, {
    ...identity(payout),
    expected: 'success',
    actual: 'returned',
    difference: `-${amountOf(payout)}`,
    severity: 'high',
    evidence: `returned since ${payout.final_at} by ${payout.evidence}`,
  });
}

/** Paid after all, and paid again by its successor (P20). */
export function paidAgain(payout: WatchedPayout): Found {
  return finding('paid_twice', payout.reference, {
    ...identity(payout),
    expected: '1 payment',
    actual: 'success, and a successor sent',
    difference: amountOf(payout),
    severity: 'high',
    evidence: `success since ${payout.final_at} by ${payout.evidence}, after a successor was made of it; see counterfoil show ${payout.reference}`,
  });
}

/** A webhook that contradicts what is known (P18). */
export function contradicting(webhook: {
  digest: string;
  effect: string | null;
  received_at: string;
  told_reference: string | null;
  told_trx: string | null;
  payout_id: bigint | null;
  batch_id: string | null;
  reference: string | null;
  transfer_id: string | null;
  currency: string | null;
  state: string | null;
}): Found {
  return finding('webhook_conflict', webhook.reference ?? `webhook:${webhook.digest.slice(0, 12)}`, {
    payoutId: webhook.payout_id,
    batchId: webhook.batch_id,
    reference: webhook.reference ?? webhook.told_reference ?? '',
    trx: webhook.told_trx,
    transferId: webhook.transfer_id,
    currency: webhook.currency ?? '',
    expected: webhook.state ?? 'a payout of ours',
    actual: (webhook.effect ?? '').replace(/^conflict:?\s*/, ''),
    difference: '',
    severity: 'medium',
    evidence: `webhook received ${webhook.received_at}`,
  });
}

/** An instant moved by so many milliseconds, ISO UTC. */
export function shift(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}

function identity(
  payout: WatchedPayout,
): Omit<FoundFields, 'expected' | 'actual' | 'difference' | 'severity' | 'evidence'> {
  return {
    payoutId: payout.id,
    batchId: payout.batch_id,
    reference: payout.reference,
    trx: payout.trx,
    transferId: payout.transfer_id,
    currency: payout.currency,
  };
}

function amountOf(payout: WatchedPayout): string {
  return formatMinor(payout.amount, payout.currency);
}
