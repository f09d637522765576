import { sql } from 'kysely';
import type { Db } from '../../core/storage/ledger.ts';
import type { Discrepancy } from '../../core/storage/tables/tables.ts';
import { isUrgent } from './discrepancies.sql.ts';
import { type Halves, joined, type RunScope, sums, withTransfer } from './run-facts.sql.ts';

/**
 * An open discrepancy with the payout it is about, or with what a listing showed of a transfer nobody ordered.
 */
export type OpenQuestion = Discrepancy & {
  account_name: string | null;
  account_number: string | null;
  bank_code: string | null;
  /** Minor units; null when neither payout nor listed transfer is known. */
  money: bigint | null;
};

/**
 * What waits for a person, at most `limit`: paid twice, then paid here and failed there, then the gravest and oldest.
 */
export async function openQuestions(db: Db, scope: RunScope, limit: number): Promise<OpenQuestion[]> {
  const { rows } = await sql<OpenQuestion>`
    select d.*, coalesce(p.account_name, l.account_name) as account_name,
      coalesce(p.account_number, l.account_number) as account_number, coalesce(p.bank_code, l.bank_code) as bank_code,
      coalesce(p.amount, l.amount) as money
    from discrepancies d left join payouts p on p.id = d.payout_id
    ${withTransfer(scope)}
    where d.state = 'open'
    order by case when ${isUrgent} then 0
        when d.kind = 'status_conflict' and d.expected = 'success' and d.actual = 'failed' then 1 else 2 end,
      case d.severity when 'high' then 0 when 'medium' then 1 else 2 end, d.first_seen_at, d.id
    limit ${limit}`.execute(db);
  return rows;
}

/** Discrepancies that are open or acknowledged, counted and summed by currency, severity, kind and state. */
export async function openSums(db: Db, scope: RunScope) {
  type Row = Halves & { currency: string } & Pick<Discrepancy, 'severity' | 'kind' | 'state'>;
  const { rows } = await sql<Row>`
    select d.currency, d.severity, d.kind, d.state, ${sums(sql`coalesce(p.amount, l.amount)`)}
    from discrepancies d left join payouts p on p.id = d.payout_id
    ${withTransfer(scope)}
    where d.state <> 'resolved' group by 1, 2, 3, 4`.execute(db);
  return rows.map(({ count, hi, lo, ...row }) => ({ ...row, count, amount: joined({ hi, lo }) }));
}
