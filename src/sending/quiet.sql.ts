import { sql } from 'kysely';
import { allBarriers } from '../core/ledger/barriers.ts';
import { knownMigrations } from '../core/storage/known-migrations.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { prepared } from '../core/storage/prepared.ts';
import { LedgerNewer } from '../core/storage/schema-version.ts';

const standing = prepared<{ found: bigint }>((db, slot) =>
  db
    .selectFrom('meta')
    .select(sql<bigint>`1`.as('found'))
    .where('key', 'in', [slot<string>(0), slot<string>(1), slot<string>(2)])
    .unionAll(db.selectFrom('halts').select(sql<bigint>`1`.as('found')))
    .unionAll(
      db
        .selectFrom('workers')
        .select(sql<bigint>`1`.as('found'))
        .where('id', '=', slot<string>(3))
        .where('ended_at', 'is not', null),
    )
    .unionAll(
      db.selectFrom('canaries').select(sql<bigint>`1`.as('found')).where('state', 'in', ['open', 'failed']),
    )
    .unionAll(db.selectFrom(anyDated(db).as('dated')).select('found'))
    .unionAll(
      db
        .selectFrom(schemaIn(db).as('schema'))
        .select(sql<bigint>`1`.as('found'))
        .where((on) => on.or([on('n', '!=', slot<bigint>(4)), on('newest', '!=', slot<string>(5))])),
    ),
);

/** One row where something that is ready has a day of payment, even a past one; else none. One index step. */
export function anyDated(db: Db | Trx) {
  return db
    .selectFrom('payouts')
    .select(sql<bigint>`1`.as('found'))
    .where(sql<boolean>`state = 'ready' and pay_on <> ''`)
    .limit(sql.lit(1));
}

/** How many migrations the ledger has had, and the name of the newest. */
function schemaIn(db: Db | Trx) {
  return db
    .selectFrom('kysely_migration')
    .select((on) => [on.fn.countAll<bigint>().as('n'), on.fn.max<string | null>('name').as('newest')]);
}

const schemaOf = prepared<{ n: bigint; newest: string | null }>((db) => schemaIn(db));

/** The same for this program. */
function ownSchema(): [count: bigint, newest: string] {
  const known = knownMigrations();
  return [BigInt(known.length), known.toSorted().at(-1) ?? ''];
}

/**
 * Throws LedgerNewer where another version has upgraded the ledger since this process opened it: it must send no more.
 */
export async function assertSchema(trx: Trx): Promise<void> {
  const [schema] = await schemaOf(trx, []);
  const [count, newest] = ownSchema();
  if (schema?.n !== count || schema.newest !== newest) throw new LedgerNewer('the ledger');
}

/**
 * True where nothing stops or limits sending: no barrier, halt, open or failed canary or day of payment, no take-over of
 * this process, no upgrade of the ledger by another version. One query in place of several: they run only where this one finds something.
 */
export async function nothingStands(trx: Trx, workerId: string): Promise<boolean> {
  return (await standing(trx, [...allBarriers, workerId, ...ownSchema()])).length === 0;
}
