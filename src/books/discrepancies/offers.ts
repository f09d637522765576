import type { FoundDiscrepancy } from '../../core/domain/discrepancy.ts';
import type { AlikePayout, AlikeTransfer } from './look-alikes.sql.ts';

/** How many are named; the ledger gives one more where there are more. */
const shown = 3;

/** Offers a person the listed transfers that the payout may be. Nothing is matched by it, and no state changes. */
export function offerTransfers(
  found: FoundDiscrepancy,
  alikes: readonly AlikeTransfer[] | undefined,
): FoundDiscrepancy {
  if (!alikes || alikes.length === 0) return found;
  const told = alikes.map(
    ({ reference, transferId, status, createdAt }) =>
      `${reference || 'no reference'} (transfer ${transferId}, ${status}, created ${createdAt})`,
  );
  const names = alikes.map(
    ({ reference, transferId }) => `${reference || 'no reference'} (transfer ${transferId})`,
  );
  return {
    ...found,
    evidence: `${found.evidence}; possible match, listed under another reference with the same account, bank, currency and amount: ${firstNames(told)}`,
    advice: { ...found.advice, alikes: names },
  };
}

/** Offers a person the payouts of ours that a transfer which nobody here ordered may be. */
export function offerPayouts(
  found: FoundDiscrepancy,
  alikes: readonly AlikePayout[] | undefined,
): FoundDiscrepancy {
  if (!alikes || alikes.length === 0) return found;
  const told = alikes.map(
    ({ reference, batch, state, submittedAt }) =>
      `${reference} (${state}, sent ${submittedAt}, batch ${batch})`,
  );
  const names = alikes.map(({ reference }) => reference);
  return {
    ...found,
    evidence: `${found.evidence}; possible match, a payout with the same account, bank, currency and amount that the list does not show: ${firstNames(told)}`,
    advice: { ...found.advice, alikes: names },
  };
}

/** The first few of these names, and whether there are more. */
export function firstNames(names: readonly string[]): string {
  const more = names.length > shown ? ' and more' : '';
  return `${names.slice(0, shown).join(', ')}${more}`;
}
