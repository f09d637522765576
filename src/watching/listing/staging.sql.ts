import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import { foldReference } from '../../core/domain/ids.ts';
import type { StagedTransfer } from '../../core/domain/listed-transfer.ts';
import { decimalToMinor } from '../../core/domain/money.ts';
import { readInstant } from '../../core/domain/witness.ts';
import type { Trx } from '../../core/storage/ledger.ts';
import { carryListed } from './carry-listed.sql.ts';
import { shownColumns } from './listed-columns.ts';

/** How many rows one INSERT carries: well under SQLite's limit of variables, and larger ones are no faster. */
const rowsPerInsert = 100;

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
  for (let from = 0; from < all.length; from += rowsPerInsert) {
    const rows = all.slice(from, from + rowsPerInsert);
    const parameters: Value[] = [run, BigInt(pass)];
    for (const row of rows) addValues(parameters, row);
    await trx.executeQuery(CompiledQuery.raw(insertText(trx, rows.length), parameters));
  }
}

/** Whether this row replaces the other one of the same transfer, which came before it. */
function isLater(one: StagedTransfer, other: StagedTransfer): boolean {
  const updatedAt = instantText(one.updated_at);
  return updatedAt === '' || updatedAt >= instantText(other.updated_at);
}

/** The columns written for each row beside its run and pairing, in the order of {@link addValues}. */
const writtenColumns = [...shownColumns, 'print'] as const;

type Value = string | bigint | number | null;

function addValues(parameters: Value[], row: StagedTransfer): void {
  const createdAt = instantText(row.created_at);
  parameters.push(
    row.id,
    row.trx,
    row.reference,
    foldReference(row.reference),
    row.currency,
    decimalToMinor(row.amount, row.currency),
    row.amount,
    row.fee,
    row.account_name,
    row.account_number,
    row.bank_code,
    row.domain,
    row.status,
    createdAt,
    row.updated_at === row.created_at ? createdAt : instantText(row.updated_at),
    row.print ?? null,
  );
}

/** One statement text for each dialect: building it for each group took as long as the insert. */
const insertTexts = new Map<string, string>();

function insertText(trx: Trx, rows: number): string {
  const { adapter } = trx.getExecutor();
  const name = `${adapter.constructor.name} ${rows}`;
  const known = insertTexts.get(name);
  if (known !== undefined) return known;
  const text = insertOf(rows).compile(trx).sql;
  insertTexts.set(name, text);
  return text;
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

/**
 * Its parameters: the run, the pass and the rows' own columns. The reference is joined by its own index, since it pairs
 * nearly every row.
 */
function insertOf(rows: number): RawBuilder<unknown> {
  const any = sql.val('');
  const columns = ['run_id', 'pass', 'payout_id', 'stray_key', ...writtenColumns].map((column) =>
    sql.ref(column),
  );
  const fields = writtenColumns.map((column) =>
    column === 'amount' || column === 'print' ? sql`cast(${shown(column)} as bigint)` : shown(column),
  );
  const [named, ...lesser] = pairingKeys;
  const others = lesser.map((key) => payoutBy(key, shown));
  const one = sql`(${sql.join(writtenColumns.map(() => any))})`;
  const updates = ['pass', 'payout_id', 'stray_key', ...writtenColumns.slice(1)].map(
    (column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`,
  );
  return sql`insert into listed (${sql.join(columns)})
    select cast(${any} as text), cast(${any} as bigint), coalesce(p.id, ${sql.join(others)}),
      case when p.id is null then ${shown(named)} end, ${sql.join(fields)}
    from (values ${sql.join(Array(rows).fill(one))}) v
      left join payouts p on p.${sql.ref(named)} = ${shown(named)}
    where true on conflict (run_id, transfer_id) do update set ${sql.join(updates)}
    where excluded.updated_at >= listed.updated_at or excluded.updated_at = ''`;
}

/** A column of the given rows, as SQL. */
function shown(column: (typeof writtenColumns)[number]): RawBuilder<unknown> {
  return sql.ref(`v.column${writtenColumns.indexOf(column) + 1}`);
}

/** Converts the service's time to the ledger's form: ISO UTC with milliseconds, empty where it is not an instant. */
export function instantText(text: string): string {
  const ms = readInstant(text);
  return ms === null ? '' : new Date(ms).toISOString();
}
