import { formatMinor } from '../core/domain/money.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { FalsePayout, ProvenEvents } from './verify-payout.ts';

type Sum = { n: bigint; amount: bigint };

type BatchTotals = { add(evidence: ProvenEvents): void; end(): FalsePayout[] };

export type TotalsCheck = { batch(id: string): Promise<BatchTotals>; end(): Promise<FalsePayout[]> };

/** Counts again what `core/ledger/totals.ts` keeps for monitors: payouts and amounts by state, and attempts by outcome. */
export function createTotalsCheck(db: Db): TotalsCheck {
  const outcomes = new Map<string, bigint>();
  return {
    async batch(id) {
      const kept = await keptOf(db, id);
      const counted = new Map<string, Sum>();
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
        end: () => differences(id, kept, counted),
      };
    },
    async end() {
      const rows = await db.selectFrom('attempt_totals').selectAll().execute();
      const kept = new Map<string, bigint>(rows.map(({ outcome, n }) => [outcome, n]));
      return [...new Set([...kept.keys(), ...outcomes.keys()])]
        .toSorted()
        .flatMap((outcome): FalsePayout[] => {
          const [is, was] = [outcomes.get(outcome) ?? 0n, kept.get(outcome) ?? 0n];
          const problem = `the figures count ${was} attempts that ended as ${outcome}; the ledger has ${is}`;
          return is === was ? [] : [{ check: 'totals', problem }];
        });
    },
  };
}

const zero: Sum = { n: 0n, amount: 0n };

async function keptOf(db: Db, batch: string): Promise<Map<string, Sum>> {
  const rows = await db.selectFrom('payout_totals').selectAll().where('batch_id', '=', batch).execute();
  return new Map(rows.map(({ currency, state, n, amount }) => [`${currency} ${state}`, { n, amount }]));
}

function differences(batch: string, kept: Map<string, Sum>, counted: Map<string, Sum>): FalsePayout[] {
  return [...new Set([...kept.keys(), ...counted.keys()])].toSorted().flatMap((key): FalsePayout[] => {
    const [was, is] = [kept.get(key) ?? zero, counted.get(key) ?? zero];
    if (was.n === is.n && was.amount === is.amount) return [];
    const [currency = '', state = ''] = key.split(' ');
    const text = ({ n, amount }: Sum): string => `${n} of ${currency} ${formatMinor(amount, currency)}`;
    return [
      { check: 'totals', problem: `${batch}: the figures count ${text(was)} ${state}; it has ${text(is)}` },
    ];
  });
}
