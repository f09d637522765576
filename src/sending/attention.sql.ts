import type { AdvisedReason } from '../core/domain/advice.ts';
import type { PayoutState } from '../core/domain/payout.ts';
import { textsOf } from '../core/storage/bulk.ts';
import type { Db } from '../core/storage/ledger.ts';
import { adviceOnHeld, withheldBy } from '../watching/evidence/withheld.ts';

/** Payouts that wait for a person: how many, and the first of them. */
export type Named = { count: number; first: ({ batch: string; reference: string } & AdvisedReason)[] };
/** `unknown`: they may have been paid. `withheld`: held just before they were sent, because that could pay twice. */
export type Attention = { unknown: Named; withheld: Named };

const shown = 10;

/** Finds all payouts, or those of these batches, that a person must look at, in the order of their ids. */
export async function findAttention(db: Db, batches?: readonly string[]): Promise<Attention> {
  const inState = (state: PayoutState) => {
    const query = db.selectFrom('payouts as p').where('p.state', '=', state);
    return batches ? query.where('p.batch_id', 'in', textsOf(batches)) : query;
  };
  const held = inState('held').where('p.withheld_by', 'is not', null);
  return { unknown: await named(db, inState('unknown')), withheld: await named(db, held) };
}

type Query = ReturnType<typeof payouts>;
const payouts = (db: Db) => db.selectFrom('payouts as p');

async function named(db: Db, query: Query): Promise<Named> {
  const { n } = await query.select((eb) => eb.fn.countAll<bigint>().as('n')).executeTakeFirstOrThrow();
  if (n === 0n) return { count: 0, first: [] };
  const rows = await query.selectAll().orderBy('p.id').limit(shown).execute();
  const held = rows.filter(({ state }) => state === 'held');
  // What keeps them now says more than their columns.
  const reasons = await withheldBy(db, held);
  const reasonOf = (row: (typeof rows)[number]): AdvisedReason =>
    reasons.get(row.id) ?? {
      why: row.message ?? '',
      advice: row.state === 'held' ? adviceOnHeld(row) : null,
    };
  const first = rows.map((row) => ({ batch: row.batch_id, reference: row.reference, ...reasonOf(row) }));
  return { count: Number(n), first };
}
