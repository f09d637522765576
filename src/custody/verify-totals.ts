import type { Db } from '../core/storage/ledger.ts';
import { type KeptTotal, type LedgerProblem, type ProblemFact, problemsOf } from './ledger-problem.ts';
import type { ProvenEvents } from './verify-payout.ts';

type BatchTotals = { add(evidence: ProvenEvents): void; end(): LedgerProblem[] };

export type TotalsCheck = { batch(id: string): Promise<BatchTotals>; end(): Promise<LedgerProblem[]> };

/** Counts again what `core/ledger/totals.ts` keeps for monitors: payouts and amounts by state, and attempts by outcome. */
export function createTotalsCheck(db: Db): TotalsCheck {
  const outcomes = new Map<string, bigint>();
  return {
    async batch(id) {
      const kept = await keptOf(db, id);
      const counted = new Map<string, KeptTotal>();
      return {
        add({ payout, attempts }) {
          for (const { outcome } of attempts)
            if (outcome !== null) outcomes.set(outcome, (outcomes.get(outcome) ?? 0n) + 1n);
          // Rows of an undecided batch may vanish; they are not counted yet.
          if (payout.history_seq === 0n) return;
          const key = `${payout.currency} ${payout.state}`;
          const { n, amount } = counted.get(key) ?? zero;
          counted.set(key, { n: n + 1n, amount: amount + payout.amount });
        },
        end: () => problemsOf('totals', id, differences(kept, counted)),
      };
    },
    async end() {
      const rows = await db.selectFrom('attempt_totals').selectAll().execute();
      const kept = new Map<string, bigint>(rows.map(({ outcome, n }) => [outcome, n]));
      const facts = [...new Set([...kept.keys(), ...outcomes.keys()])]
        .toSorted()
        .flatMap((outcome): ProblemFact[] => {
          const [is, was] = [outcomes.get(outcome) ?? 0n, kept.get(outcome) ?? 0n];
          return is === was ? [] : [{ kind: 'attempt_totals', outcome, was, is }];
        });
      return problemsOf('totals', null, facts);
    },
  };
}

const zero: KeptTotal = { n: 0n, amount: 0n };

async function keptOf(db: Db, batch: string): Promise<Map<string, KeptTotal>> {
  const rows = await db.selectFrom('payout_totals').selectAll().where('batch_id', '=', batch).execute();
  return new Map(rows.map(({ currency, state, n, amount }) => [`${currency} ${state}`, { n, amount }]));
}

function differences(kept: Map<string, KeptTotal>, counted: Map<string, KeptTotal>): ProblemFact[] {
  return [...new Set([...kept.keys(), ...counted.keys()])].toSorted().flatMap((key): ProblemFact[] => {
    const [was, is] = [kept.get(key) ?? zero, counted.get(key) ?? zero];
    if (was.n === is.n && was.amount === is.amount) return [];
    const [currency = '', state = ''] = key.split(' ');
    return [{ kind: 'payout_totals', currency, state, was, is }];
  });
}
