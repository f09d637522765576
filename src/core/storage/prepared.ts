import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from './ledger.ts';

/** The place of a value in a query that is built before its values are known. */
export class Slot {
  readonly at: number;

  constructor(at: number) {
    this.at = at;
  }
}

type Slots = <T>(at: number) => RawBuilder<T>;

type Build<R> = (db: Db | Trx, slot: Slots) => { compile(db: Db | Trx): CompiledQuery<R> };

const slot: Slots = (at) => sql`${new Slot(at)}`;

/**
 * Hides the value from SQLite's planner. SQLite inspects values in an ordered query and those compared with a column of
 * a partial index. It then prepares the statement again on every run: a reconciliation took 1.2 times as long.
 */
export function unseen<T extends string>(text: RawBuilder<T>): RawBuilder<T> {
  return sql<T>`cast(${text} as text)`;
}

/** Builds a query once for each open ledger and then only binds values: for what runs with every group of payouts. */
export function prepared<R>(
  build: Build<R>,
): (db: Db | Trx, values: readonly (string | bigint | Uint8Array | null)[]) => Promise<R[]> {
  const known = new WeakMap<object, { query: CompiledQuery<R>; inOrder: boolean }>();
  return async (db, values) => {
    // A transaction has the same adapter as its ledger.
    const ledger = db.getExecutor().adapter;
    let one = known.get(ledger);
    if (!one) {
      const query = build(db, slot).compile(db);
      one = { query, inOrder: query.parameters.every((given, i) => given instanceof Slot && given.at === i) };
      known.set(ledger, one);
    }
    const { query, inOrder } = one;
    const parameters =
      inOrder && values.length === query.parameters.length
        ? values
        : query.parameters.map((given) => (given instanceof Slot ? values[given.at] : given));
    const { rows } = await db.executeQuery<R>({ ...query, parameters });
    return rows;
  };
}
