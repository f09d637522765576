import { type RawBuilder, sql } from 'kysely';
import type { HistoryEvent } from '../domain/history-event.ts';
import { cameToNothing, type PayoutState } from '../domain/payout.ts';
import type { Effect, LedgerEvent } from '../domain/transition.ts';
import { literals } from '../storage/dialect.ts';
import type { Trx } from '../storage/ledger.ts';
import { addHoldReason } from './hold-reasons.ts';
import { shownValue } from './shown-value.ts';

/** The states in which no money is on its way, so that another payout may be ordered in place of this one. */
const unpaid: readonly PayoutState[] = [...cameToNothing, 'cancelled'];

/** True where somebody says that a payout which had come to nothing was paid, or is on its way (P14). */
export function isBack(
  event: LedgerEvent,
  { from, to, effect }: { from: PayoutState; to: PayoutState; effect: Effect },
): boolean {
  if (!unpaid.includes(from)) return false;
  const isNew = effect.kind === 'conflict' || !unpaid.includes(to);
  switch (event.kind) {
    case 'witness':
      return isNew && (event.witness.status === 'success' || event.witness.status === 'pending');
    case 'outcome':
      return isNew && event.outcome.kind === 'accepted';
    case 'settle':
      return !unpaid.includes(to);
    default:
      return false;
  }
}

/** A payout that came back, and the entry of its history that says so. */
export type CameBack = { payoutId: bigint; said: HistoryEvent };

type Found = Record<'reference' | 'earlier_batch' | 'day' | 'batch' | 'cells' | 'columns', string> & {
  row: bigint;
};

/**
 * Holds the batches of payouts that were ordered in place of one that came back, and have not gone (P14, P23). They may
 * wait for their day, a limit or the end of a halt: no release looks at them again. A person who saw the reason releases
 * them. The claim of a successor itself asks about what it pays again (P20).
 */
export async function holdReplacements(trx: Trx, back: readonly CameBack[]): Promise<void> {
  for (const one of back) {
    const same = sql`n.account_number = p.account_number and n.currency = p.currency and n.amount = p.amount`;
    const alike = await sql<Found>`${wanted()} from payouts p cross join payouts n
      where ${same} and ${replaces(one)} order by n.row_number`.execute(trx);
    for (const [batch, [first, ...others]] of Map.groupBy(alike.rows, (row) => row.batch))
      if (first)
        await addHoldReason(trx, batch, {
          kind: 'alike',
          ...match(first),
          others: others.length,
        });
    const equal = sql`w.payout_id = p.id and v.column_key = w.column_key and v.value = w.value and n.id = v.payout_id`;
    const values = await sql<Found & { column_key: string; value: string }>`
      ${wanted(sql`, v.column_key, v.value`)}
      from payouts p cross join payout_values w cross join payout_values v cross join payouts n
      where ${equal} and ${replaces(one)} order by n.row_number, v.column_key`.execute(trx);
    for (const [batch, [first, ...others]] of Map.groupBy(values.rows, (row) => row.batch)) {
      if (!first) continue;
      const { row, ...before } = match(first);
      const reason = {
        kind: 'value_again' as const,
        row,
        ...shownValue(first),
        before,
      };
      await addHoldReason(trx, batch, { ...reason, others: others.length });
    }
  }
}

function match({ row, reference, earlier_batch, day }: Found) {
  return { row: Number(row), reference, batch: earlier_batch, day };
}

function wanted(more: RawBuilder<unknown> = sql``): RawBuilder<unknown> {
  return sql`select p.reference, p.batch_id as earlier_batch, n.batch_id as batch, n.row_number as row, n.cells,
    (select substr(created_at, 1, 10) from batches b where b.id = p.batch_id) as day,
    (select columns from batches b where b.id = n.batch_id) as columns ${more}`;
}

const lastMove = (payout: RawBuilder<unknown>, more: RawBuilder<unknown> = sql``): RawBuilder<bigint> =>
  sql`(select coalesce(max(m.id), 0) from history m
    where m.payout_id = ${payout} and coalesce(m.from_state, '') <> m.to_state ${more})`;

/**
 * True where payout `n` may have been ordered in place of `p`, and may still go: it came to its state after `p` had come to
 * nothing, and before `p` first came back so. Who released it later knew. An archive keeps no history: then any may.
 */
function replaces({ payoutId, said }: CameBack): RawBuilder<boolean> {
  const over = lastMove(sql`p.id`, sql`and m.to_state in (${literals(unpaid)})`);
  const since = lastMove(sql`n.id`);
  return sql`(p.id = ${payoutId} and n.batch_id <> p.batch_id and n.state in ('ready', 'held', 'sending')
    and ${since} > ${over}
    and not exists (select 1 from history e where e.payout_id = p.id and e.event = ${said}
      and e.id > ${over} and e.id < ${since})
    and n.id not in (with recursive later (id) as (
      select s.id from payouts s where s.successor_of = p.id
      union all select s.id from later join payouts s on s.successor_of = later.id) select id from later))`;
}
