import { sql } from 'kysely';
import type { Ledger } from '../core/storage/ledger.ts';

/** Writes to the ledger for real: only a commit shows that it can be written. Throws what the ledger throws. */
export async function probeLedger(ledger: Pick<Ledger, 'write'>): Promise<void> {
  await ledger.write(async (trx) => {
    await trx
      .insertInto('tallies')
      .values({ name: 'probes', n: 1n })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ n: sql`tallies.n + excluded.n` }))
      .execute();
  });
}
