import { migrations } from '../../src/core/storage/known-migrations.ts';
import type { PostgresPlace } from '../../src/core/storage/place.ts';
import { copyTables } from '../../src/custody/copy-tables.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';

/** Makes on PostgreSQL the ledger of an earlier version: the tables of its migrations, and the rows of its file. */
export async function copyOlderLedger(
  file: string,
  place: PostgresPlace,
  own: readonly string[],
  now: () => string,
): Promise<void> {
  const later = Object.entries(migrations).filter(([name]) => !own.includes(name));
  for (const [name] of later) delete migrations[name];
  try {
    const fill = async (trx: Parameters<typeof copyTables>[1]): Promise<void> =>
      void (await copyTables(file, trx, () => undefined));
    await (await openLedger(place, { now, alone: 'copy', fill })).close();
  } finally {
    Object.assign(migrations, Object.fromEntries(later));
  }
}
