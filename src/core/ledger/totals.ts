import { sql } from 'kysely';
import type { PayoutState } from '../domain/payout.ts';
import { overRows } from '../storage/bound-rows.ts';
import { idsIn, idsText } from '../storage/bulk.ts';
import type { Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import type { Ended } from './attempts.ts';

/** So many payouts, of so much together, enter a state; negative numbers leave it. Amounts are minor units. */
type Entry = { batch_id: string; currency: string; state: PayoutState; n: bigint; amount: bigint };

/** How many payouts of a batch, in one currency, are in a state now. */
export type Total = Pick<Entry, 'batch_id' | 'state' | 'n'>;

const addEntries = overRows<keyof Entry, Total>(
  ['batch_id', 'currency', 'state', 'n', 'amount'],
  0,
  ({ rows, text, integer }) => sql`insert into payout_totals (batch_id, currency, state, n, amount)
    select ${text('batch_id')}, ${text('currency')}, ${text('state')}, ${integer('n')}, ${integer('amount')}
    from ${rows} where ${text('batch_id')} is not null
    on conflict (batch_id, currency, state)
    do update set n = payout_totals.n + excluded.n, amount = payout_totals.amount + excluded.amount
    returning batch_id, state, n`,
);

type Moved = { batch_id: string; currency: string; amount: bigint; from: PayoutState; to: PayoutState };

/**
 * Keeps `payout_totals` in step with changed states, in their transaction: monitors read figures of a million payouts
 * from it without counting them. `verify` proves it. Returns the totals that changed.
 */
export async function moveTotals(trx: Trx, moved: readonly Moved[]): Promise<Total[]> {
  const entries = new Map<string, Entry>();
  const add = ({ batch_id, currency, amount }: Moved, state: PayoutState, sign: bigint): void => {
    const key = `${batch_id} ${currency} ${state}`;
    const entry = entries.get(key) ?? { batch_id, currency, state, n: 0n, amount: 0n };
    entry.n += sign;
    entry.amount += sign * amount;
    entries.set(key, entry);
  };
  for (const one of moved) {
    if (one.from === one.to) continue;
    add(one, one.from, -1n);
    add(one, one.to, 1n);
  }
  const changed = [...entries.values()].filter(({ n, amount }) => n !== 0n || amount !== 0n);
  return changed.length > 0 ? addEntries(trx, [], changed) : [];
}

const addFirst = prepared<never>(
  (_, slot) => sql`insert into payout_totals (batch_id, currency, state, n, amount)
    select batch_id, currency, ${slot(0)}, count(*), sum(amount) from payouts where id in ${idsIn(slot(1))}
    group by batch_id, currency
    on conflict (batch_id, currency, state)
    do update set n = payout_totals.n + excluded.n, amount = payout_totals.amount + excluded.amount`,
);

/** Counts payouts whose history begins. Rows of a batch that is still undecided are not counted: they may vanish. */
export async function beginTotals(trx: Trx, state: PayoutState, ids: readonly bigint[]): Promise<void> {
  if (ids.length > 0) await addFirst(trx, [state, idsText(ids)]);
}

const addAttempts = overRows(
  ['outcome', 'n'],
  0,
  ({ rows, text, integer }) => sql`insert into attempt_totals (outcome, n)
    select ${text('outcome')}, ${integer('n')} from ${rows} where ${text('outcome')} is not null
    on conflict (outcome) do update set n = attempt_totals.n + excluded.n`,
);

/** Counts ended attempts by outcome. A late answer moves its attempt from `unknown` to what it says (P4). */
export async function countEnded(trx: Trx, ended: readonly Ended[]): Promise<void> {
  const counts = new Map<string, bigint>();
  const add = (outcome: string, n: bigint): void => void counts.set(outcome, (counts.get(outcome) ?? 0n) + n);
  for (const { before, outcome } of ended) {
    if (before !== null) add(before, -1n);
    add(outcome?.kind ?? 'unknown', 1n);
  }
  const changed = [...counts].flatMap(([outcome, n]) => (n === 0n ? [] : [{ outcome, n }]));
  if (changed.length > 0) await addAttempts(trx, [], changed);
}
