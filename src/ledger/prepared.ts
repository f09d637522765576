import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from './open.ts';

/** The place of a value in a query that is put together before its values are known. */
class Slot {
  readonly at: number;

  constructor(at: number) {
    this.at = at;
  }
}

/** Stands for the value at this position, whatever it will be. */
type Slots = <T>(at: number) => RawBuilder<T>;

type Build<R> = (db: Db | Trx, slot: Slots) => { compile(db: Db | Trx): CompiledQuery<R> };

const slot: Slots = (at) => sql`${new Slot(at)}`;

/**
 * A query that is put together once for each ledger that is open, and from then on only gets its values: putting it
 * together costs more than running it. For the few that run with every group of payouts.
 */
export function prepared<R>(
  build: Build<R>,
): (db: Db | Trx, values: readonly (string | bigint | null)[]) => Promise<R[]> {
  const known = new WeakMap<object, CompiledQuery<R>>();
  return async (db, values) => {
    // A transaction has the adapter of the ledger it runs in.
    const ledger = db.getExecutor().adapter;
    let query = known.get(ledger);
    if (!query) {
      query = build(db, slot).compile(db);
      known.set(ledger, query);
    }
    const parameters = query.parameters.map((one) => (one instanceof Slot ? values[one.at] : one));
    const { rows } = await db.executeQuery<R>({ ...query, parameters });
    return rows;
  };
}
