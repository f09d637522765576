import type { Db } from '../core/storage/ledger.ts';
import { throughDay, type Under } from './claim-request.ts';
import { headsOf } from './lanes.sql.ts';

/** The batches with ready payouts whose day has come, in the order of the first of each; no other brake is considered. */
export async function batchesWithReady(db: Db, under: Under): Promise<string[]> {
  const day = throughDay(under);
  const heads = await headsOf(db, under);
  return [...new Set(heads.flatMap(({ batch, payOn }) => (payOn <= day ? [batch] : [])))];
}

/** Counts the ready payouts of a batch whose day has come, up to `most`; no other brake is considered. */
export async function countReady(
  db: Db,
  batch: string,
  { most, day }: { most: number; day: string },
): Promise<number> {
  const { ready } = await db
    .selectFrom(
      db
        .selectFrom('payouts')
        .select('id')
        .where('batch_id', '=', batch)
        .where('state', '=', 'ready')
        .where('pay_on', '<=', day)
        .limit(most)
        .as('some'),
    )
    .select((eb) => eb.fn.countAll<bigint>().as('ready'))
    .executeTakeFirstOrThrow();
  return Number(ready);
}
