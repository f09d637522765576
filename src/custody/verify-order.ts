import { foldReference } from '../core/domain/ids.ts';
import { decimalToMinor } from '../core/domain/money.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import { type LedgerProblem, problems } from './ledger-problem.ts';

const inBody = [
  'reference',
  'account_number',
  'account_name',
  'bank_code',
  'currency',
  'narration',
  'sender_name',
] as const;

/** Compares the payout's row with its frozen body, which was or will be sent (P2). */
export function checkOrder(payout: Payout): LedgerProblem[] {
  const issues = problems('orders', payout.reference);
  const body = frozenBody(payout.body);
  if (!body) return issues.add({ kind: 'body_unreadable' });
  for (const key of inBody) {
    if (body[key] !== payout[key]) issues.add({ kind: 'body_column', column: key });
  }
  if ((body.type ?? null) !== payout.type) issues.add({ kind: 'body_column', column: 'type' });
  const frozen = frozenAmount(body, payout.currency);
  if (frozen !== payout.amount) issues.add({ kind: 'body_amount', is: payout.amount, inBody: frozen });
  if (payout.reference_key !== foldReference(payout.reference)) issues.add({ kind: 'reference_key' });
  return issues.list;
}

/** The amount on the wire, in minor units; null if the body has none. */
export function frozenAmount(body: Record<string, unknown>, currency: string): bigint | null {
  return typeof body.amount === 'string' ? decimalToMinor(body.amount, currency) : null;
}

/** The frozen body as an object; undefined if it is not one. */
export function frozenBody(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}
