import { type RawBuilder, sql } from 'kysely';
import { foldReference } from '../../core/domain/ids.ts';
import type { StagedTransfer } from '../../core/domain/listed-transfer.ts';
import { decimalToMinor } from '../../core/domain/money.ts';
import { readInstant } from '../../core/domain/witness.ts';
import { type BoundCell, overRows } from '../../core/storage/bound-rows.ts';
import type { Trx } from '../../core/storage/ledger.ts';
import { carryListed } from './carry-listed.sql.ts';
import { shownColumns } from './listed-columns.ts';

/**
 * Stages one group of pages. Each row gets its payout: by reference, else by transfer id, else by trx. A transfer shown
 * twice, or by an earlier pass, keeps its newest state: pages may arrive out of order. Rows that the runs in `from`
 * listed identically are copied from them.
 */
export async function stage(
  trx: Trx,
  run: string,
  pass: number,
  transfers: readonly StagedTransfer[],
  from: readonly string[] = [],
): Promise<void> {
  const newest = new Map<string, StagedTransfer>();
  for (const transfer of transfers) {
    const known = newest.get(transfer.id);
    if (!known || isLater(transfer, known)) newest.set(transfer.id, transfer);
  }
  const all = await carryListed(trx, { run, pass, from }, [...newest.values()]);
  await insertRows(trx, [run, BigInt(pass)], all.map(cellsOf));
}

/** Whether this row replaces the other one of the same transfer, which came before it. */
function isLater(one: StagedTransfer, other: StagedTransfer): boolean {
  const updatedAt = instantText(one.updated_at);
  return updatedAt === '' || updatedAt >= instantText(other.updated_at);
}

/** The columns written for each row beside its run and pairing. */
const writtenColumns = [...shownColumns, 'print'] as const;
type Written = (typeof writtenColumns)[number];

function cellsOf(row: StagedTransfer): Record<Written, BoundCell> {
  const createdAt = instantText(row.created_at);
  return {
    transfer_id: row.id,
    trx: row.trx,
    reference: row.reference,
    reference_key: foldReference(row.reference),
    currency: row.currency,
    amount: decimalToMinor(row.amount, row.currency),
    amount_text: row.amount,
    fee: row.fee,
    account_name: row.account_name,
    account_number: row.account_number,
    bank_code: row.bank_code,
    domain: row.domain,
    status: row.status,
    created_at: createdAt,
    updated_at: row.updated_at === row.created_at ? createdAt : instantText(row.updated_at),
    print: row.print === undefined ? null : BigInt(row.print),
  };
}

/** The keys that pair a listed transfer with a payout, in order; the first match counts. */
export const pairingKeys = ['reference_key', 'transfer_id', 'trx'] as const;

/**
 * The first payout that a listed row matches by this key. Another account may use the same transfer numbers, so an id
 * under another reference also needs the same money (P31). `of`: a column of the row, as SQL.
 */
export function payoutBy(
  key: (typeof pairingKeys)[number],
  of: (column: 'reference_key' | 'transfer_id' | 'trx' | 'currency' | 'amount') => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const sameMoney =
    key === 'transfer_id'
      ? sql` and o.currency = ${of('currency')} and o.amount = cast(${of('amount')} as bigint)`
      : sql``;
  return sql`(select min(o.id) from payouts o where o.${sql.ref(key)} = ${of(key)}${sameMoney})`;
}

/** Shared: the run and the pass. The reference is joined by its own index, since it pairs nearly every row. */
const insertRows = overRows(writtenColumns, 2, ({ rows, text, integer, shared }) => {
  const given = (column: Written): RawBuilder<unknown> =>
    column === 'amount' || column === 'print' ? integer(column) : text(column);
  const columns = ['run_id', 'pass', 'payout_id', 'stray_key', ...writtenColumns];
  const [named, ...lesser] = pairingKeys;
  const others = lesser.map((key) => payoutBy(key, given));
  const updates = columns
    .filter((column) => column !== 'run_id' && column !== 'transfer_id')
    .map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
  return sql`insert into listed (${sql.join(columns.map((column) => sql.ref(column)))})
    select cast(${shared(0)} as text), cast(${shared(1)} as bigint), coalesce(p.id, ${sql.join(others)}),
      case when p.id is null then ${given(named)} end, ${sql.join(writtenColumns.map(given))}
    from ${rows} left join payouts p on p.${sql.ref(named)} = ${given(named)}
    where ${given('transfer_id')} is not null
    on conflict (run_id, transfer_id) do update set ${sql.join(updates)}
    where excluded.updated_at >= listed.updated_at or excluded.updated_at = ''`;
});

/** Converts the service's time to the ledger's form: ISO UTC with milliseconds, empty where it is not an instant. */
export function instantText(text: string): string {
  const ms = readInstant(text);
  return ms === null ? '' : new Date(ms).toISOString();
}
