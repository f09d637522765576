import type { Db } from '../core/storage/ledger.ts';
import type { Under } from './claim-request.ts';
import { headsOf } from './lanes.sql.ts';

/** The batches with ready payouts, in the order of the first payout of each; brakes are not considered. */
export async function batchesWithReady(db: Db, under: Under): Promise<string[]> {
  return [...new Set((await headsOf(db, under)).map(({ batch }) => batch))];
}

/** Counts the ready payouts of a batch, up to `most`; brakes are not considered. */
export async function countReady(db: Db, batch: string, most: number): Promise<number> {
  const { ready } = await db
    .selectFrom(
      db
        .selectFrom('payouts')
        .select('id')
        .where('batch_id', '=', batch)
        .where('state', '=', 'ready')
        .limit(most)
        .as('some'),
    )
    .select((eb) => eb.fn.countAll<bigint>().as('ready'))
    .executeTakeFirstOrThrow();
  return Number(ready);
}
