import { type RawBuilder, sql } from 'kysely';
import { idList, textsOf } from '../../core/storage/bulk.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { Listed } from '../../core/storage/tables/tables.ts';
import { shownColumns } from './listed-columns.ts';

/** A listed row with its pairing. */
export type ShownRow = Omit<Listed, 'stray_key' | 'print'>;

const columns = ['run_id', ...shownColumns, 'pass', 'payout_id'] as const;

/**
 * What these runs (a list, or a query of their ids) list under the references of these payouts, whichever payout it is
 * paired with. The stray index holds a reference only if no payout had it at staging; the others are found by their
 * payout. The indexes are named because SQLite, without statistics, reads a whole run instead.
 */
export async function shownUnder(
  db: Db | Trx,
  runs: RawBuilder<unknown>,
  payouts: readonly { id: bigint; reference_key: string }[],
): Promise<ShownRow[]> {
  if (payouts.length === 0) return [];
  const keys = textsOf(payouts.map(({ reference_key }) => reference_key));
  const ids = idList(payouts.map(({ id }) => id));
  const listed = sql.join(columns.map((column) => sql.ref(`l.${column}`)));
  const { rows } = await sql<ShownRow>`
    select ${listed} from listed l indexed by listed_payout
      where l.run_id in (${runs}) and l.payout_id in ${ids} and l.reference_key in ${keys}
    union
    select ${listed} from listed l indexed by listed_stray where l.run_id in (${runs}) and l.stray_key in ${keys}
    order by run_id, transfer_id`.execute(db);
  return rows;
}
