import { textsOf } from '../core/storage/bulk.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Maker } from './approval.ts';

/** Who dropped or mended each of these batches, and so may not approve it (P37): all accounts, the droppers first. */
export async function makersOf(db: Db | Trx, batches: readonly string[]): Promise<Map<string, Maker[]>> {
  if (batches.length === 0) return new Map();
  const account = (name: string, uid: bigint | null) => ({ name, uid: uid === null ? null : Number(uid) });
  const dropped = await db
    .selectFrom('batches')
    .select(['id', 'dropped_by', 'dropped_uid', 'dropped_as', 'dropped_as_uid'])
    .where('id', 'in', textsOf(batches))
    .execute();
  const prepared = await db
    .selectFrom('preparers')
    .select(['batch_id', 'name', 'uid', 'did'])
    .where('batch_id', 'in', textsOf(batches))
    .orderBy('id')
    .execute();
  const byBatch = Map.groupBy(prepared, ({ batch_id }) => batch_id);
  return new Map(
    dropped.map((one): [string, Maker[]] => [
      one.id,
      [
        account(one.dropped_by, one.dropped_uid),
        // With sudo, also the account that the person became.
        ...(one.dropped_as === '' ? [] : [account(one.dropped_as, one.dropped_as_uid)]),
        ...(byBatch.get(one.id) ?? []).map(({ name, uid, did }) => ({ ...account(name, uid), did })),
      ],
    ]),
  );
}
