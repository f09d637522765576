import { type RawBuilder, sql } from 'kysely';
import type { HistoryEvent } from '../domain/history-event.ts';
import { cameToNothing, type PayoutState } from '../domain/payout.ts';
import type { Effect, LedgerEvent } from '../domain/transition.ts';
import { field, integerField, rowsOf } from '../storage/bulk.ts';
import { literals } from '../storage/dialect.ts';
import type { Trx } from '../storage/ledger.ts';
import { addHoldReason } from './hold-reasons.ts';
import { shownValue } from './shown-value.ts';

/** The states in which nothing shows that a payout is paid, so that another may be ordered in its place. */
const unpaid: readonly PayoutState[] = [...cameToNothing, 'cancelled', 'unknown'];

/** True where somebody says that such a payout was paid, or is on its way (P14). */
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
  if (back.length === 0) return;
  const given = rowsOf(back.map(({ payoutId, said }) => ({ id: payoutId, said })));
  const from = sql`from ${given} as row cross join payouts p`;
  const alike = await sql<Found>`${wanted()} ${from} cross join payouts n
    where ${replaces} and n.account_number = p.account_number and n.currency = p.currency and n.amount = p.amount
    order by n.row_number, p.id`.execute(trx);
  for (const [batch, rows] of Map.groupBy(alike.rows, ({ batch: own }) => own)) {
    const [first] = rows;
    const others = new Set(rows.map(({ row }) => row)).size - 1;
    if (first) await addHoldReason(trx, batch, { kind: 'alike', ...match(first), others });
  }
  const values = await sql<Found & { column_key: string; value: string }>`
    ${wanted(sql`, v.column_key, v.value`)} ${from} cross join payout_values w cross join payout_values v
      cross join payouts n
    where ${replaces} and w.payout_id = p.id and v.column_key = w.column_key and v.value = w.value
      and n.id = v.payout_id order by n.row_number, v.column_key, p.id`.execute(trx);
  for (const [batch, rows] of Map.groupBy(values.rows, ({ batch: own }) => own)) {
    const [first] = rows;
    if (!first) continue;
    const { row, ...before } = match(first);
    const others = new Set(rows.map((one) => `${one.row} ${one.column_key}`)).size - 1;
    await addHoldReason(trx, batch, { kind: 'value_again', row, ...shownValue(first), before, others });
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

/** The newest entry that moved this payout and meets the condition on `m`; 0 where an archive took them. */
const lastMove = (payout: string, condition: RawBuilder<boolean> = sql`1 = 1`): RawBuilder<bigint> =>
  sql`(select coalesce(max(m.id), 0) from history m
    where m.payout_id = ${sql.ref(payout)} and coalesce(m.from_state, '') <> m.to_state and ${condition})`;

const isUnpaid = sql<boolean>`m.to_state in (${literals(unpaid)})`;
/** When `p` last was on its way, before it was unpaid. */
const wasAlive = lastMove('p.id', sql`not ${isUnpaid} and m.id < ${lastMove('p.id', isUnpaid)}`);

/**
 * True where payout `n` may have been ordered in place of `p`, and may still go. It came to its state after `p` was on its
 * way, and before `p` first came back so: who released it later knew.
 */
const replaces = sql<boolean>`(p.id = ${integerField('id')} and n.batch_id <> p.batch_id
    and n.state in ('ready', 'held', 'sending') and ${lastMove('n.id')} > ${wasAlive}
    and not exists (select 1 from history e where e.payout_id = p.id and e.event = ${field('said')}
      and e.id > ${wasAlive} and e.id < ${lastMove('n.id')})
    and n.id not in (with recursive later (id) as (
      select s.id from payouts s where s.successor_of = p.id
      union all select s.id from later join payouts s on s.successor_of = later.id) select id from later))`;
