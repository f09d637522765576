import { type FoundDiscrepancy, finding } from '../../core/domain/discrepancy.ts';
import { formatMinor } from '../../core/domain/money.ts';
import { isFinalState } from '../../core/domain/payout.ts';
import { payoutFields } from './findings.ts';
import type { Overturned } from './overturned.sql.ts';

/** A payout that had ended, by a person's decision or a refusal, until the service said otherwise (P14, P32). */
export function overturned(payout: Overturned): FoundDiscrepancy {
  const { before, word, overturned_at: at, decision } = payout;
  const ended =
    decision === null
      ? `ledger: ${before} by the service's answer`
      : `${decision.source} settled it as ${before} at ${decision.at} (${decision.note})`;
  return finding('status_conflict', payout.reference, {
    ...payoutFields(payout),
    expected: before,
    actual: payout.state,
    difference: overturnedMoney(payout),
    moved: true,
    evidence: `${ended}; then at ${at}: ${word}`,
  });
}

/** The money that counted as not paid and is paid, or the other way round; empty where that is not decided yet. */
function overturnedMoney({ before, state, amount, currency }: Overturned): string {
  if (!isFinalState(state) || (before === 'success') === (state === 'success')) return '';
  return formatMinor(state === 'success' ? amount : -amount, currency);
}
