import type { AdvisedReason } from '../../core/domain/advice.ts';
import { bareAccount } from '../../core/domain/bare-account.ts';
import { kindRules } from '../../core/domain/discrepancy-kinds.ts';
import type { InquiryReason } from '../../core/domain/inquiry-reason.ts';
import { formatMinor } from '../../core/domain/money.ts';
import { hasComeToNothing, type Mode } from '../../core/domain/payout.ts';
import type { RetryRow } from '../../core/domain/retry-file.ts';
import type { Since } from '../../watching/evidence/sends.ts';
import { isConfirmedSince } from '../../watching/evidence/unconfirmed.ts';
import { evidenceDigest, type WeighedCase } from '../../watching/evidence/weigh.ts';

/** Why a row does not pay a payout again, for `words/row-fault-words.ts`. `of`: the reference of that payout. */
export type RowFault =
  | { kind: 'barrier'; reason: AdvisedReason }
  | { kind: 'no_payout'; mode: Mode }
  | { kind: 'paid_again'; successor: string }
  | { kind: 'unknown'; of: string }
  /** `confirm`: a list may confirm that it failed; `removable`: the row may be left out instead. */
  | { kind: 'not_now'; reason: AdvisedReason; confirm: { batch: string; removable: boolean } | null }
  | { kind: 'settled'; of: string; by: string; note: string }
  | { kind: 'unanswered'; of: string; asking: InquiryReason }
  | { kind: 'unconfirmed'; since: Since; batch: string }
  | { kind: 'no_evidence'; batch: string }
  | { kind: 'outdated'; of: string; batch: string }
  | { kind: 'reference'; of: string; expected: string }
  | { kind: 'currency'; of: string; currency: string }
  | { kind: 'amount'; of: string; amount: string }
  | { kind: 'zeros_dropped' };

/** Says a fault in words, for rooms that write a file for people. */
export type SayFault = (fault: RowFault) => { problem: string; fix: string };

/** A cell that keeps a row from paying again. */
export type CellFault = { column: string; value: string; fault: RowFault };

/** Returns what keeps a file from paying a payout again (P20); null when nothing does. `since` as for `judge`. */
export function obstacle(one: WeighedCase, since: Since): RowFault | null {
  const { payout, batch, judgement, successor, notPaid } = one;
  const { reference: of, state } = payout;
  if (successor !== null) return { kind: 'paid_again', successor };
  if (judgement.kind === 'again') return { kind: 'unknown', of };
  if (judgement.kind === 'no') {
    const isOpen = hasComeToNothing(state) && payout.archived_seq === null;
    const confirm = isOpen ? { batch: batch.id, removable: state !== 'failed' } : null;
    return { kind: 'not_now', reason: judgement, confirm };
  }
  // P20: it may have been paid in another way that the service does not know.
  if (notPaid !== null)
    return { kind: 'settled', of, by: notPaid.source.replace(/^person:/, ''), note: notPaid.note };
  if (one.asking !== null) return { kind: 'unanswered', of, asking: one.asking };
  // P20: intake looks a failed payout up first, as `retry` does. Where it cannot, an answer since then is enough.
  if (state === 'failed' && !isConfirmedSince(one, since))
    return { kind: 'unconfirmed', since, batch: batch.id };
  return null;
}

/** True while a discrepancy says that evidence about it conflicts: nobody is offered to pay it again. */
export function isInConflict({ discrepancies }: WeighedCase): boolean {
  return discrepancies.some(({ kind }) => kindRules[kind].againstEvidence);
}

/** Returns how a row differs from an order to pay this payout again: evidence, reference, currency, amount, account. */
export function differences(row: RetryRow, one: WeighedCase, expected: string): CellFault[] {
  const { payout, batch } = one;
  const { reference: of, currency } = payout;
  const cells: CellFault[] = [];
  const note = (column: string, value: string, fault: RowFault): void => {
    cells.push({ column, value, fault });
  };
  if (row.evidence === '') note('retry_evidence', '', { kind: 'no_evidence', batch: batch.id });
  else if (row.evidence !== evidenceDigest([one]))
    note('retry_evidence', row.evidence, { kind: 'outdated', of, batch: batch.id });
  if (row.reference !== expected) note('reference', row.reference, { kind: 'reference', of, expected });
  if (row.currency !== currency) note('currency', row.currency, { kind: 'currency', of, currency });
  else if (row.amount !== payout.amount) {
    const amount = formatMinor(payout.amount, currency);
    note('amount', formatMinor(row.amount, currency), { kind: 'amount', of, amount });
  }
  for (const [column, is, was] of [
    ['account_number', row.accountNumber, payout.account_number],
    ['bank_code', row.bankCode, payout.bank_code],
  ] as const) {
    if (is !== was && is === bareAccount(was)) note(column, is, { kind: 'zeros_dropped' });
  }
  return cells;
}
