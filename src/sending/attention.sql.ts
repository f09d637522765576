import type { PayoutState } from '../domain/payout.ts';
import type { Db } from '../storage/ledger.ts';

/** Payouts that wait for a person: how many, and the first of them. */
export type Named = { count: number; first: { batch: string; reference: string; message: string }[] };
/** `unknown`: they may have been paid. `withheld`: held just before they were sent, because that could pay twice. */
export type Attention = { unknown: Named; withheld: Named };

const shown = 10;

/** Finds all payouts, or those of these batches, that a person must look at, in the order of their ids. */
export async function findAttention(db: Db, batches?: readonly string[]): Promise<Attention> {
  const inState = (state: PayoutState) => {
    const query = db.selectFrom('payouts as p').where('p.state', '=', state);
    return batches ? query.where('p.batch_id', 'in', [...batches]) : query;
  };
  const held = inState('held').where('p.withheld_by', 'is not', null);
  return { unknown: await named(inState('unknown')), withheld: await named(held) };
}

type Query = ReturnType<typeof payouts>;
const payouts = (db: Db) => db.selectFrom('payouts as p');

async function named(query: Query): Promise<Named> {
  const { n } = await query.select((eb) => eb.fn.countAll<bigint>().as('n')).executeTakeFirstOrThrow();
  if (n === 0n) return { count: 0, first: [] };
  const rows = await query
    .select(['p.batch_id as batch', 'p.reference', 'p.message'])
    .orderBy('p.id')
    .limit(shown)
    .execute();
  return { count: Number(n), first: rows.map((row) => ({ ...row, message: row.message ?? '' })) };
}
