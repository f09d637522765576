import { systemClock } from '../../../src/core/runtime/clock.ts';
import { createDecisions } from '../../../src/sending/decisions/decisions.ts';
import { rowFaultText } from '../../../src/words/row-fault-words.ts';
import { at, claimAt, recordOutcome, type replies, type TestLedger } from '../../support/ledger.ts';

type Rules = { referencePrefix?: string; payoutLimit?: Record<string, string> };

/** A person who decides at a fixed time about the ledger of the test under way, and the service's answers before. */
export function createSetting(ledger: () => TestLedger) {
  function decisionsOf({ referencePrefix = '', payoutLimit = {} }: Rules = {}) {
    const clock = { ...systemClock(), iso: () => at(5000) };
    const rules = { referencePrefix, payoutLimit };
    return createDecisions({ ledger: ledger(), clock, rules, say: rowFaultText });
  }

  return {
    decisionsOf,
    /** Sends every ready payout, with these outcomes in turn. */
    async send(...outcomes: ReturnType<(typeof replies)['refused']>[]): Promise<void> {
      for (const [i, outcome] of outcomes.entries()) {
        const [claimed] = await claimAt(ledger(), at(i * 10));
        if (claimed) await recordOutcome(ledger(), at(i * 10 + 5), claimed, outcome);
      }
    },
    /** Orders these payouts to be paid again, on the evidence as it is. */
    async retryNow(ids: bigint[], rules: Rules = {}) {
      const decisions = decisionsOf(rules);
      const { digest } = await decisions.weigh(ids, at(1000));
      return decisions.retry({ ids, since: at(1000), digest, person: 'ada' });
    },
  };
}
