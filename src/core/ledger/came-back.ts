import { type RawBuilder, sql } from 'kysely';
import { type HistoryEvent, settleEvents } from '../domain/history-event.ts';
import { cameToNothing, type PayoutState, sources, type WitnessStatus } from '../domain/payout.ts';
import type { Effect, LedgerEvent } from '../domain/transition.ts';
import { field, integerField, rowsOf } from '../storage/bulk.ts';
import { literals } from '../storage/dialect.ts';
import type { Trx } from '../storage/ledger.ts';
import { addHoldReason, type HoldReason, holdReasonsOf } from './hold-reasons.ts';
import { otherZeros, paymentOf, paysTheSame } from './same-payment.ts';
import { shownValue } from './shown-value.ts';
import { eventList } from './stored-sets.ts';

/** The states in which nothing shows that a payout is paid, so that another may be ordered in its place. */
export const unpaid: readonly PayoutState[] = [...cameToNothing, 'cancelled', 'unknown'];
/** The same, and those in which such a payout waits to be sent again. */
const notGone: readonly PayoutState[] = [...unpaid, 'ready', 'held'];

/** True where somebody says that such a payout was paid, or is on its way (P14). */
export function isBack(
  event: LedgerEvent,
  { from, to, effect }: { from: PayoutState; to: PayoutState; effect: Effect },
): boolean {
  if (!notGone.includes(from)) return false;
  const isGone = !notGone.includes(to);
  const isNew = isGone || (effect.kind === 'conflict' && unpaid.includes(from));
  switch (event.kind) {
    case 'witness':
      return isGone || (isNew && (event.witness.status === 'success' || event.witness.status === 'pending'));
    case 'outcome':
      return isNew && event.outcome.kind === 'accepted';
    case 'settle':
      return isNew;
    default:
      return false;
  }
}

/** A payout that came back, and the entry of its history that says so. */
export type CameBack = { payoutId: bigint; said: HistoryEvent; seq: bigint };

/** `told`: 1 where another entry said so since the row waits. */
type Found = Record<'reference' | 'earlier_batch' | 'day' | 'batch' | 'cells' | 'columns', string> &
  Record<'row' | 'told', bigint>;

/**
 * Holds the batches of payouts that were ordered in place of one that came back, and have not gone (P14, P23). They may
 * wait for their day, a limit or the end of a halt: no release looks at them again. A person who saw the reason releases
 * them. The claim of a successor itself asks about what it pays again (P20).
 */
export async function holdReplacements(trx: Trx, back: readonly CameBack[]): Promise<void> {
  if (back.length === 0) return;
  const given = rowsOf(back.map(({ payoutId, ...entry }) => ({ id: payoutId, ...entry })));
  const from = sql`from ${given} as row cross join payouts p`;
  const alike = await sql<Found>`${wanted()} ${from} cross join ${otherZeros} z cross join payouts n
    where ${replaces} and ${paysTheSame('n', paymentOf('p'))}
    order by n.row_number, p.id`.execute(trx);
  for (const rows of groups(alike.rows))
    await holdFor(trx, rows, {
      of: ({ row }) => String(row),
      reason: (first, others) => ({ kind: 'alike', ...match(first), others }),
    });
  const values = await sql<Found & { column_key: string; value: string }>`
    ${wanted(sql`, v.column_key, v.value`)} ${from} cross join payout_values w cross join payout_values v
      cross join payouts n
    where ${replaces} and w.payout_id = p.id and v.column_key = w.column_key and v.value = w.value
      and n.id = v.payout_id order by n.row_number, v.column_key, p.id`.execute(trx);
  for (const rows of groups(values.rows))
    await holdFor(trx, rows, {
      of: ({ row, column_key }) => `${row} ${column_key}`,
      reason(first, others) {
        const { row, ...before } = match(first);
        return { kind: 'value_again', row, ...shownValue(first), before, others };
      },
    });
}

/** What waits in one batch in place of payouts of another one. */
function groups<F extends Found>(found: readonly F[]): F[][] {
  return [
    ...Map.groupBy(found, ({ batch, earlier_batch }) => JSON.stringify([batch, earlier_batch])).values(),
  ];
}

type Repeat = Extract<HoldReason, { kind: 'alike' | 'value_again' }>;

/**
 * Holds a batch for these rows. Payouts come back one by one, and thousands may: as long as nobody has released the batch,
 * one reason counts the rows that stand against one earlier batch.
 */
async function holdFor<F extends Found>(
  trx: Trx,
  rows: readonly F[],
  { of, reason }: { of(one: F): string; reason(first: F, others: number): Repeat },
): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const count = (some: readonly F[]): number => new Set(some.map(of)).size;
  const found = reason(first, count(rows) - 1);
  const { reasons } = await holdReasonsOf(trx, first.batch);
  const before = reasons.find(
    (one): one is Repeat =>
      one.kind === found.kind &&
      one.mark !== undefined &&
      one.scope === undefined &&
      earlier(one) === earlier(found),
  );
  const fresh = count(rows.filter(({ told }) => told === 0n));
  const joined = before && { ...before, others: before.others + fresh };
  await addHoldReason(trx, first.batch, joined ?? found, before);
}

/** The batch of the earlier payout. */
function earlier(reason: Repeat): string | undefined {
  if (reason.kind === 'alike') return reason.batch;
  return 'batch' in reason.before ? reason.before.batch : undefined;
}

function match({ row, reference, earlier_batch, day }: Found) {
  return { row: Number(row), reference, batch: earlier_batch, day };
}

function wanted(more: RawBuilder<unknown> = sql``): RawBuilder<unknown> {
  return sql`select p.reference, p.batch_id as earlier_batch, n.batch_id as batch, n.row_number as row, n.cells,
    case when ${wasTold} then 1 else 0 end as told,
    (select substr(created_at, 1, 10) from batches b where b.id = p.batch_id) as day,
    (select columns from batches b where b.id = n.batch_id) as columns ${more}`;
}

/** The newest entry that moved this payout and meets the condition on `m`; 0 where an archive took them. */
const lastMove = (payout: string, condition: RawBuilder<boolean> = sql`1 = 1`): RawBuilder<bigint> =>
  sql`(select coalesce(max(m.id), 0) from history m
    where m.payout_id = ${sql.ref(payout)} and coalesce(m.from_state, '') <> m.to_state and ${condition})`;

const isUnpaid = sql<boolean>`m.to_state in (${literals(unpaid)})`;
const wasUnpaid = lastMove('p.id', isUnpaid);
/** When `p` last was on its way, before it was unpaid. */
const wasAlive = lastMove('p.id', sql`not ${isUnpaid} and m.id < ${wasUnpaid}`);
/** True where `p` was unpaid when `n` came to its state: nobody had ordered it again before. */
const stoodUnpaid = sql<boolean>`(${wasUnpaid} > 0 and not exists (select 1 from history m where m.payout_id = p.id
  and m.from_state <> m.to_state and m.id > ${wasUnpaid} and m.id < ${lastMove('n.id')}))`;

/** The event in which each source but the answer to our own POST says so. */
const said = (status: WitnessStatus): HistoryEvent[] =>
  sources.flatMap((source) => (source === 'response' ? [] : (`${source} says ${status}` as const)));

/** True of an entry `e` that says that its payout was paid, or is on its way. A pending after its end is merely late. */
export const saysPaid: RawBuilder<boolean> = sql`(e.event in ${eventList(...said('success'), 'accepted', settleEvents.success)}
  or (e.event in ${eventList(...said('pending'))} and e.from_state not in ('failed', 'returned')))`;

/** When payout `p`, that was unpaid, last turned out otherwise, or somebody last said so; empty: never. */
export const cameBackAt: RawBuilder<string> = sql`coalesce((select max(e.at) from history e where e.payout_id = p.id
  and e.from_state in (${literals(unpaid)}) and (e.to_state not in (${literals(unpaid)}) or ${saysPaid})), '')`;

/** True where `p` came back so since `n` waits, and an earlier entry said so too. */
const wasTold = sql<boolean>`exists (select 1 from history e where e.payout_id = p.id
  and e.seq < ${integerField('seq')} and e.id > ${lastMove('n.id')} and ${saysPaid})`;

/** States that prove that no money moved, where nothing says otherwise. */
const neverPaid: readonly PayoutState[] = ['cancelled', 'refused'];

/** True where payout `p` is proven to have moved no money: another with its account and amount cannot pay it twice (P23). */
export const movedNothing: RawBuilder<boolean> = sql`(p.state in (${literals(neverPaid)})
  and not exists (select 1 from history e where e.payout_id = p.id and ${saysPaid}))`;

/**
 * True where payout `n` may have been ordered in place of `p`, and may still go. It came to its state while `p` was unpaid,
 * and before `p` first came back so: who released it later knew. One whose intake was cut off has no state yet.
 */
const replaces = sql<boolean>`(p.id = ${integerField('id')} and n.batch_id <> p.batch_id
    and n.state in ('ready', 'held', 'sending') and (n.history_seq = 0 or ${lastMove('n.id')} > ${wasAlive}) and ${stoodUnpaid}
    and not exists (select 1 from history e where e.payout_id = p.id and e.event = ${field('said')}
      and e.id > ${wasAlive} and e.id < ${lastMove('n.id')})
    and n.id not in (with recursive later (id) as (
      select s.id from payouts s where s.successor_of = p.id
      union all select s.id from later join payouts s on s.successor_of = later.id) select id from later))`;
