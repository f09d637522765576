import { foldReference } from '../core/domain/ids.ts';
import { decimalToMinor } from '../core/domain/money.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import { type FalsePayout, problems } from './verify-payout.ts';

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
export function checkOrder(payout: Payout): FalsePayout[] {
  const issues = problems('orders', payout.reference);
  const body = frozenBody(payout.body);
  if (!body) return issues.add('body is not a JSON object');
  for (const key of inBody) {
    if (body[key] !== payout[key]) issues.add(`${key} in the row differs from the frozen body`);
  }
  if ((body.type ?? null) !== payout.type) issues.add('type in the row differs from the frozen body');
  const frozen = frozenAmount(body, payout.currency);
  if (frozen !== payout.amount)
    issues.add(
      `amount is ${payout.amount} minor units, the frozen body says ${frozen ?? 'nothing readable'}`,
    );
  if (payout.reference_key !== foldReference(payout.reference))
    issues.add('reference_key is not its reference in lower case');
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
