import { sql } from 'kysely';
import { batchChanges } from '../domain/batch-changes.ts';
import { formatMinor } from '../domain/money.ts';
import { type BatchState, batchState, countByState, type PayoutState } from '../domain/payout.ts';
import { textsIn } from '../storage/bulk.ts';
import type { Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import type { Batch } from '../storage/tables/tables.ts';
import { type NewEvent, tell } from './events.ts';
import { type HoldReason, holdReasonsOf } from './hold-reasons.ts';
import type { Total } from './totals.ts';

type Row = Pick<Batch, 'id' | 'name' | 'phase' | 'told_state'> & Partial<Sum>;
type Sum = { state: PayoutState; currency: string; n: bigint; amount: bigint };

const standings = prepared<Row>(
  (_, slot) => sql`select b.id, b.name, b.phase, b.told_state, t.state, t.currency, t.n, t.amount
    from batches b left join payout_totals t on t.batch_id = b.id and t.n > 0
    where b.id in ${textsIn(slot(0))} order by b.id, t.currency`,
);

/** While so many payouts are in one of `some`, and none in `none`, a batch stays in its state. */
const stays: Partial<
  Record<BatchState | '', { some: readonly PayoutState[]; none: readonly PayoutState[] }>
> = {
  held: { some: ['held'], none: [] },
  sending: { some: ['sending'], none: ['held'] },
  sent: { some: ['pending', 'unknown'], none: ['held', 'ready', 'sending'] },
};

/** Whether the totals that changed prove that a batch is still as it was told: then nothing more need be read. */
export function isSureToStay(told: BatchState | '', changed: readonly Total[]): boolean {
  const { some = [], none = [] } = stays[told] ?? {};
  const has = (states: readonly PayoutState[]): boolean =>
    changed.some(({ state, n }) => n > 0n && states.includes(state));
  return has(some) && !has(none);
}

/**
 * Tells what became of these batches, where their state is no longer what was told last (P39). The last step of a
 * transaction that changed their payouts. A batch from before there were events is only noted.
 */
export async function tellBatches(trx: Trx, at: string, ids: Iterable<string>): Promise<void> {
  const rows = await standings(trx, [JSON.stringify([...new Set(ids)])]);
  for (const [id, own] of Map.groupBy(rows, (row) => row.id)) {
    const [batch] = own;
    const sums = own.filter((row): row is Row & Sum => typeof row.state === 'string');
    const state = batchState(batch?.phase ?? 'loading', countByState(sums));
    if (!batch || state === batch.told_state) continue;
    await trx.updateTable('batches').set({ told_state: state }).where('id', '=', id).execute();
    if (batch.told_state !== '')
      await tell(trx, at, await eventsOf(trx, batch, { sums, now: state, before: batch.told_state }));
  }
}

async function eventsOf(
  trx: Trx,
  { id, name }: Row,
  { sums, before, now }: { sums: readonly Sum[]; before: BatchState; now: BatchState },
): Promise<NewEvent[]> {
  const payouts = countByState(sums);
  const events: NewEvent[] = [];
  for (const change of batchChanges(before, now)) {
    switch (change) {
      case 'released':
        break;
      case 'taken':
        events.push({ type: 'batch.taken', batch: id, data: { name, ...sizeOf(sums) } });
        break;
      case 'held':
        events.push({
          type: 'batch.held',
          batch: id,
          data: { reasons: kindsOf((await holdReasonsOf(trx, id)).reasons) },
        });
        break;
      case 'sent':
      case 'done':
      case 'cancelled':
        events.push({ type: `batch.${change}`, batch: id, data: { payouts } });
    }
  }
  return events;
}

function kindsOf(reasons: readonly HoldReason[]): string[] {
  return [...new Set(reasons.map(({ kind }) => kind))].filter((kind) => kind !== 'releasing');
}

function sizeOf(sums: readonly Sum[]): { rows: number; totals: Record<string, string> } {
  const byCurrency = Map.groupBy(sums, ({ currency }) => currency);
  const total = (own: readonly Sum[]) => own.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    rows: sums.reduce((rows, { n }) => rows + Number(n), 0),
    totals: Object.fromEntries(
      [...byCurrency].map(([currency, own]) => [currency, formatMinor(total(own), currency)]),
    ),
  };
}
