import type { Mode } from '../domain/payout.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';

const modeRow = prepared<{ value: string }>((db) =>
  db.selectFrom('meta').select('value').where('key', '=', 'mode'),
);

/** The one mode that the ledger belongs to (P24); of one that no process has bound yet: test. */
export async function ledgerMode(db: Db | Trx): Promise<Mode> {
  const [row] = await modeRow(db, []);
  return row?.value === 'live' ? 'live' : 'test';
}
