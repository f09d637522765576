import type { Mode } from '../domain/payout.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import { readMode } from '../storage/schema-version.ts';

const modeRow = prepared<{ value: string }>((db) =>
  db.selectFrom('meta').select('value').where('key', '=', 'mode'),
);

/** Returns the ledger's mode, which it keeps from its birth (P24). */
export async function ledgerMode(db: Db | Trx): Promise<Mode> {
  const [row] = await modeRow(db, []);
  return readMode('the ledger', row?.value);
}
