import type { DiscrepancyFilter } from '../../books/discrepancies/discrepancies.sql.ts';
import { closeWithPayout, payoutsOfFiltered } from '../../books/discrepancies/discrepancy-decisions.sql.ts';
import type { PayoutState } from '../../core/domain/payout.ts';
import { isFinalByEvidence } from '../../core/domain/transition.ts';
import { record } from '../../core/ledger/record.ts';
import { type Weighed, weigh } from '../../watching/evidence/weigh.ts';
import { endReasonsOver } from '../scoped-reasons.sql.ts';
import {
  type CancelOrder,
  cancelUnsent,
  findInBatch,
  findReferences,
  unsentOf,
} from './cancel-unsent.sql.ts';
import { type Decision, type DecisionDeps, decideRetry, groundOf, type RetryOrder } from './retry-payout.ts';
import { createRetryRows } from './retry-rows.ts';

type SettleOrder = RetryOrder & { as: 'success' | 'failed'; note: string };

/**
 * What people decide about payouts: retry, settle, cancel (P19-P21). Each is a compare-and-set on what they were shown.
 */
export function createDecisions(deps: DecisionDeps) {
  const { ledger, clock, rules } = deps;
  const ground = groundOf(rules);

  /**
   * Closes a payout by a person's decision, with all that is open about it (P32). Changes nothing when the evidence is
   * no longer what was shown, or when it makes the payout final.
   */
  async function settle(order: SettleOrder): Promise<Decision> {
    const { ids, since, digest, as, note, person } = order;
    return ledger.write(async (trx): Promise<Decision> => {
      const now = await weigh(trx, { ...ground, ids, since });
      const [one] = now.cases;
      if (now.digest !== digest || !one?.remedies.includes('settle')) return { kind: 'changed', now };
      const { id, reference } = one.payout;
      const at = clock.iso();
      // Where evidence made it final, it may be settled because other evidence contradicts that.
      const event = { kind: 'settle' as const, as, note, contradicted: isFinalByEvidence(one.payout) };
      const [told] = await record(trx, at, [{ payoutId: id, source: `person:${person}`, event }]);
      if (told?.effect.kind !== 'move') return { kind: 'changed', now };
      await endReasonsOver(trx, one.payout.batch_id);
      await closeWithPayout(trx, { id }, { note: `closed with its payout: ${note}`, person, at });
      return { kind: 'decided', decided: [{ id, reference, predecessor: null, state: told.to }] };
    });
  }

  return {
    find: (references: readonly string[]) => findReferences(ledger.db, references),
    /** The payouts that a discrepancy of this filter is about, which nobody has closed. */
    findDiscrepant: (filter: DiscrepancyFilter) => payoutsOfFiltered(ledger.db, filter),
    findInBatch: (batch: string, state: PayoutState, limit: number) =>
      findInBatch(ledger.db, { batch, state, limit }),
    /** The evidence of these payouts; `since` is when the look-up for it began. */
    weigh: (ids: readonly bigint[], since: string): Promise<Weighed> =>
      weigh(ledger.db, { ...ground, ids, since }),
    retry: (order: RetryOrder) => decideRetry(deps, order),
    /** The same decision made by a file whose rows name what they pay again. */
    rows: createRetryRows(deps),
    settle,
    /** `why`: the reason that its payouts keep. */
    cancel: (target: Omit<CancelOrder, 'at' | 'source' | 'why'> & { person: string; why?: string }) => {
      const { person, why = `cancelled by ${person}`, ...what } = target;
      const said = { at: clock.iso(), source: `person:${person}`, why };
      return cancelUnsent(ledger, { ...what, ...said });
    },
    standingOf: (ids: readonly bigint[]) => unsentOf(ledger.db, ids),
  };
}
