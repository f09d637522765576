import type { Mode } from '../domain/payout.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import { readMode } from '../storage/schema-version.ts';

/** The value of a key of `meta`; undefined where it has none. */
export async function metaOf(db: Db | Trx, key: string): Promise<string | undefined> {
  return (await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst())?.value;
}

/** The values of those of these keys that have one. */
export async function metaOfKeys(db: Db | Trx, keys: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.selectFrom('meta').selectAll().where('key', 'in', keys).execute();
  return new Map(rows.map(({ key, value }) => [key, value]));
}

/** Sets a value, in place of an earlier one. */
export async function setMeta(trx: Trx, key: string, value: string): Promise<void> {
  await trx
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}

/** Sets a value; an earlier one stays. */
export async function keepMeta(trx: Trx, key: string, value: string): Promise<void> {
  await trx
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
}

export async function dropMeta(trx: Trx, keys: readonly string[]): Promise<void> {
  await trx.deleteFrom('meta').where('key', 'in', keys).execute();
}

const modeRow = prepared<{ value: string }>((db) =>
  db.selectFrom('meta').select('value').where('key', '=', 'mode'),
);

/** Returns the ledger's mode, which it keeps from its birth (P24). */
export async function ledgerMode(db: Db | Trx): Promise<Mode> {
  const [row] = await modeRow(db, []);
  return readMode('the ledger', row?.value);
}
