import { sql } from 'kysely';
import type { PayoutState } from '../domain/payout.ts';
import { overRows } from '../storage/bound-rows.ts';
import type { Trx } from '../storage/ledger.ts';
import { beginTotals } from './totals.ts';

/** Inserts first entries, which differ only in payout and hash. */
const insertFirst = overRows(
  ['id', 'head'],
  3,
  ({ rows, text, integer, shared }) => sql`insert into history
      (at, to_state, detail, payout_id, seq, event, source, from_state, hash)
    select ${shared(0)}, ${shared(1)}, ${shared(2)}, ${integer('id')}, 1, 'intake', 'intake', null, ${text('head')}
    from ${rows} where ${text('head')} is not null`,
);

const beginRows = overRows(
  ['id', 'head'],
  1,
  ({ rows, text, integer, shared }) => sql`update payouts
    set state = ${shared(0)}, history_seq = 1, history_head = ${text('head')}
    from ${rows} where payouts.id = ${integer('id')}`,
);

/** Writes the first history entry of payouts, with the payouts' first state and the head of their history. */
export async function startHistory(
  trx: Trx,
  { at, to, detail }: { at: string; to: PayoutState; detail: string },
  heads: readonly { id: bigint; head: string }[],
): Promise<void> {
  await insertFirst(trx, [at, to, detail], heads);
  await beginRows(trx, [to], heads);
  const ids = heads.map(({ id }) => id);
  await beginTotals(trx, to, ids);
}
