import type { DiscrepancyKind } from '../core/domain/discrepancy-kinds.ts';
import type { Fault, Sandbox } from '../sandbox/sandbox.ts';

/** A fault planted on one sample payout, and the discrepancy that it must cause; null: none. */
export type Planted = {
  reference: string;
  what: string;
  kind: DiscrepancyKind | null;
  fault?: Fault;
  /** Changes what the service shows after everything has settled. */
  change?: Parameters<Sandbox['book']['change']>[1];
};

/** One fault of each kind; the other samples go normally. */
export const plan: readonly Planted[] = [
  {
    reference: 'SAL-2026-11-002',
    what: 'the answer to the POST was lost; a look-up found the transfer',
    kind: null,
    fault: 'lost_answer',
  },
  {
    reference: 'SAL-2026-11-003',
    what: 'accepted, then never seen again',
    kind: 'missing_at_service',
    fault: 'vanish',
  },
  {
    reference: 'SAL-2026-11-004',
    what: 'success, and later the list says failed',
    kind: 'status_conflict',
    change: { status: 'failed' },
  },
  {
    reference: 'SAL-2026-11-005',
    what: 'the service shows 10.00 less',
    kind: 'amount_conflict',
    change: { amount: '409990.00' },
  },
  {
    reference: 'SAL-2026-11-006',
    what: 'booked twice after one POST',
    kind: 'duplicate_at_service',
    fault: 'duplicate',
  },
  {
    reference: 'SAL-2026-11-007',
    what: 'another account was credited',
    kind: 'beneficiary_conflict',
    change: { account_number: '1409876540' },
  },
  {
    reference: 'SAL-2026-11-008',
    what: 'pending for too long',
    kind: 'stale_pending',
    fault: 'never_settles',
  },
  {
    reference: 'SAL-2026-11-009',
    what: 'the connection died before an answer; nothing shows it arrived',
    kind: 'unknown_outcome',
    fault: 'lost_before',
  },
  {
    reference: 'SAL-2026-11-010',
    what: 'settled, but no webhook came',
    kind: 'webhook_missing',
    fault: 'webhook_never',
  },
  { reference: 'SAL-2026-11-011', what: 'the bank rejected it', kind: null, fault: 'fail' },
  {
    reference: 'CON-ZA-2026-11-02',
    what: 'the service shows another currency',
    kind: 'currency_conflict',
    change: { currency: 'USD' },
  },
  {
    reference: 'CON-ZA-2026-11-03',
    what: 'a test transfer shown as live',
    kind: 'mode_conflict',
    change: { domain: 'live' },
  },
  { reference: 'CON-ZA-2026-11-04', what: 'the webhook came twice', kind: null, fault: 'webhook_doubled' },
];

export const stranger = {
  reference: 'NOBODY-ORDERED-THIS',
  what: 'a transfer nobody ordered',
  kind: 'missing_in_ledger' as const,
};

export function faultsOf(planted: readonly Planted[]): Record<string, Fault> {
  return Object.fromEntries(planted.flatMap(({ reference, fault }) => (fault ? [[reference, fault]] : [])));
}
