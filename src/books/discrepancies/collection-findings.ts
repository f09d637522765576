import {
  type CollectionDifference,
  completed,
  judgeCollection,
  lacksAmount,
} from '../../core/domain/collection.ts';
import { decimalDifference, type FoundDiscrepancy, finding } from '../../core/domain/discrepancy.ts';
import { formatMinor } from '../../core/domain/money.ts';
import type { Mode } from '../../core/domain/payout.ts';
import type { Collection } from '../../core/storage/tables/collection-tables.ts';
import { collectionFacts } from '../../watching/collections/collections.sql.ts';

/**
 * An expected collection that is overdue: the verify endpoint was asked after the deadline and does not show it as a
 * success. Null while there is no answer since: silence makes nothing missing.
 */
export function missingCollection(row: Collection, mode: Mode, staleMs: number): FoundDiscrepancy | null {
  const { expected_amount: amount, expected_currency: currency, expected_at: since } = row;
  if (amount === null || currency === null || since === null) return null;
  const deadline = new Date(Date.parse(since) + staleMs).toISOString();
  if (row.answered_at === null || row.answered_at < deadline) return null;
  const facts = collectionFacts(row, mode);
  const verified = completed(facts.verified, facts.webhook);
  const shown = verified ? `${verified.status}${lacksAmount(verified) ? ' showing no amount' : ''}` : '';
  const told = row.told_status === null ? '' : `; a webhook told ${row.told_status} at ${row.heard_at}`;
  return finding('collection_missing', row.reference, {
    ...identity(row),
    expected: formatMinor(amount, currency),
    actual: shown === '' ? 'not received' : `${shown}, not received`,
    difference: `-${formatMinor(amount, currency)}`,
    moved: false,
    evidence: `expected since ${since} by ${row.file_id}, row ${row.row_number}; verify asked ${row.answered_at}: ${row.answer}${told}`,
  });
}

/** A webhook reported money that nobody had expected and that the verify endpoint does not show. */
export function unconfirmedCollection(row: Collection, staleMs: number): FoundDiscrepancy | null {
  if (row.expected_at !== null || row.heard_at === null || row.told_status !== 'success') return null;
  const deadline = new Date(Date.parse(row.heard_at) + staleMs).toISOString();
  if (row.answered_at === null || row.answered_at < deadline) return null;
  const told = `success ${row.told_currency ?? ''} ${row.told_amount ?? ''}`.trim();
  return finding('collection_conflict', row.reference, {
    ...identity(row),
    expected: told,
    actual: row.verified_status ?? row.answer ?? 'not found',
    difference: '',
    moved: true,
    evidence: `a webhook heard ${row.heard_at} says ${told}; verify asked ${row.answered_at}: ${row.answer}; expected by nobody`,
  });
}

/** A collection of which the expectation, the webhooks and the verify endpoint cannot all be true. */
export function collectionConflict(row: Collection, mode: Mode): FoundDiscrepancy | null {
  const facts = collectionFacts(row, mode);
  const { differences } = judgeCollection(facts);
  const [first] = differences;
  if (!first) return null;
  const amounts = differences.find(({ field }) => field === 'amount');
  const told = (side: 'expected' | 'actual'): string =>
    [...new Set(differences.map((one) => one[side]))].join('; ');
  const words = [
    facts.promised &&
      `promised ${facts.promised.currency} ${formatMinor(facts.promised.amount, facts.promised.currency)}`,
    facts.webhook &&
      `webhook ${row.heard_at}: ${facts.webhook.status} ${facts.webhook.currency ?? ''} ${facts.webhook.amount ?? ''}`,
    facts.verified &&
      `verify ${row.verified_at}: ${facts.verified.status} ${facts.verified.currency ?? ''} ${facts.verified.amount ?? ''}`,
  ].flatMap((part) => (part ? [part.trim()] : []));
  return finding('collection_conflict', row.reference, {
    ...identity(row),
    expected: told('expected'),
    actual: told('actual'),
    difference: amounts ? decimalDifference(amounts.actual, amounts.expected) : '',
    moved: true,
    evidence: `${differences.map(sentence).join('; ')} (${words.join(', ')})`,
  });
}

function sentence({ field, expected, actual, between }: CollectionDifference): string {
  return `${field} differs, ${between}: ${expected} and ${actual}`;
}

function identity(row: Collection) {
  return {
    payoutId: null,
    batchId: null,
    reference: row.reference,
    trx: row.trx,
    transferId: null,
    currency: row.expected_currency ?? row.verified_currency ?? row.told_currency ?? '',
  };
}
