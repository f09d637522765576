import type { PayoutState } from '../domain/payout.ts';
import { cancelUnsent, findInBatch, findReferences, standingOf } from '../ledger/payouts/decisions.ts';
import { record } from '../ledger/payouts/record.ts';
import { type Decision, type DecisionDeps, decideRetry, groundOf, type RetryOrder } from './retry.ts';
import { createRetryRows } from './retry-rows.ts';
import { type Weighed, weigh } from './weigh.ts';

type SettleOrder = RetryOrder & { as: 'success' | 'failed'; note: string };

/** What people decide about payouts: retry, settle, cancel (P19-P21). Each is a compare-and-set on what they were shown. */
export function createDecisions(deps: DecisionDeps) {
  const { ledger, clock, rules } = deps;
  const { mode } = rules;
  const ground = groundOf(rules);

  /** Records a person's word on an unknown; nothing changes when the evidence is not what was shown (P19). */
  async function settle(order: SettleOrder): Promise<Decision> {
    const { ids, since, digest, as, note, person } = order;
    return ledger.write(async (trx): Promise<Decision> => {
      const now = await weigh(trx, { ...ground, ids, since });
      const [one] = now.cases;
      // P4: a late word on an earlier attempt can make it unknown while a later one is in a request.
      const underWay = one?.attempts.some(({ outcome }) => outcome === null);
      if (now.digest !== digest || one?.payout.state !== 'unknown' || underWay)
        return { kind: 'changed', now };
      const { id, reference } = one.payout;
      const event = { kind: 'settle' as const, as, note };
      const [told] = await record(trx, clock.iso(), [{ payoutId: id, source: `person:${person}`, event }]);
      const state: PayoutState = told?.to ?? 'unknown';
      return { kind: 'decided', decided: [{ id, reference, predecessor: null, state }] };
    });
  }

  return {
    find: (references: readonly string[]) => findReferences(ledger.db, mode, references),
    findInBatch: (batch: string, state: PayoutState, limit: number) =>
      findInBatch(ledger.db, { mode, batch, state, limit }),
    /** The evidence of these payouts; `since` is when the look-up for it was begun. */
    weigh: (ids: readonly bigint[], since: string): Promise<Weighed> =>
      weigh(ledger.db, { ...ground, ids, since }),
    retry: (order: RetryOrder) => decideRetry(deps, order),
    /** The same decision made by a file whose rows name what they pay again. */
    rows: createRetryRows(deps),
    settle,
    cancel: (target: { batch: string; payout?: bigint; person: string }) => {
      const { person, ...what } = target;
      const said = { at: clock.iso(), source: `person:${person}`, why: `cancelled by ${person}` };
      return cancelUnsent(ledger, { mode, ...what, ...said });
    },
    standingOf: (ids: readonly bigint[]) => standingOf(ledger.db, ids),
  };
}
