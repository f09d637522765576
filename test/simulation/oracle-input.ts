import type { Order, Transfer } from '../oracle/books.ts';
import type { Entry } from './book.ts';
import type { Town } from './town.ts';

type Row = {
  id: number;
  reference: string;
  currency: string;
  amount: number;
  transfer_id: string | null;
  submitted_at: string | null;
  evidence: string;
  unseen_sends: number;
  last_attempt: number | null;
};
type Entered = { payout_id: number; entry: number; event: string; state: string; fee: string | null };

/** Our orders as the ledger has them, for the independent reader. `beganAt`: when an attempt began, true time. */
export function ordersOf({ inspector, evidence }: Town, beganAt: (attempt: number) => number): Order[] {
  const moves = Map.groupBy(
    inspector.rows<Entered>(`select payout_id, id as entry, event, to_state as state,
      json_extract(detail, '$.fee') as fee from history order by id`),
    (one) => one.payout_id,
  );
  const rows =
    inspector.rows<Row>(`select id, reference, currency, amount, transfer_id, submitted_at, evidence, unseen_sends,
      (select max(a.id) from attempts a where a.payout_id = p.id) as last_attempt
    from payouts p where history_seq > 0 order by id`);
  const wentElsewhere = (reference: string): boolean =>
    evidence.placesOf(reference).some((account) => account !== 'home');
  const anyElsewhere = rows.some(({ reference }) => wentElsewhere(reference));
  return rows.map((row) => ({
    reference: row.reference,
    currency: row.currency,
    amount: BigInt(row.amount),
    moves: moves.get(row.id) ?? [],
    transferId: row.transfer_id,
    // What an adopted ledger forgot of was sent before anybody here can remember.
    sentAt: row.submitted_at === null ? null : row.last_attempt === null ? 0 : beganAt(row.last_attempt),
    byPerson: row.evidence.includes('person') && !/listing|details/.test(row.evidence),
    // What a lost copy of the ledger sent may have gone to any account that was ever used.
    elsewhere: wentElsewhere(row.reference) || (row.unseen_sends > 0 && anyElsewhere),
  }));
}

/** The transfers of the service's book that a list shows. */
export function transfersOf({ service }: Town, isShown: (entry: Entry) => boolean): Transfer[] {
  return service.book
    .all()
    .filter(isShown)
    .map(({ record }) => ({
      id: `${record.id}`,
      reference: record.reference,
      currency: record.currency,
      amount: BigInt(record.amount.replace('.', '')),
      status: record.status,
    }));
}

/** The transfers that closed months have counted. */
export function countedTransfers({ inspector }: Town): Set<string> {
  const rows = inspector.rows<{ transfer_id: string }>('select transfer_id from period_transfers');
  return new Set(rows.map(({ transfer_id }) => transfer_id));
}
