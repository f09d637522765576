import type { Mode } from '../../domain/payout.ts';
import { prepared } from '../database/prepared.ts';
import type { Db, Trx } from '../open.ts';
import { readMode } from './schema.ts';

const modeRow = prepared<{ value: string }>((db) =>
  db.selectFrom('meta').select('value').where('key', '=', 'mode'),
);

/** The one mode that the ledger belongs to from its birth (P24). */
export async function ledgerMode(db: Db | Trx): Promise<Mode> {
  const [row] = await modeRow(db, []);
  return readMode('the ledger', row?.value);
}
