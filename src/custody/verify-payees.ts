import { createHash } from 'node:crypto';
import { formatMinor } from '../core/domain/money.ts';
import { comparisonShape, type PayeeChange, type PayeeComparison } from '../core/ledger/payee-comparisons.ts';
import { idList } from '../core/storage/bulk.ts';
import { inParts } from '../core/storage/keyset.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import { type FalsePayout, problems } from './verify-payout.ts';

/** So many changes are looked up in one query. */
const changesPerQuery = 1000;

/**
 * Finds comparisons of payees that do not agree with the rows from which they were made (P37): an approval covers them. What
 * was known of other payments at that time cannot be told again, so that only what the rows say is checked.
 */
export async function checkComparisons(db: Db): Promise<FalsePayout[]> {
  const all: FalsePayout[] = [];
  const stored = await db.selectFrom('payee_comparisons').selectAll().orderBy('batch_id').execute();
  for (const { batch_id: batch, digest, found } of stored) {
    const said = problems('payees', batch);
    const comparison = readComparison(found);
    if (!comparison) said.add('its comparison with the last batch cannot be read');
    else if (comparison.digest !== digest || !isOwnDigest(comparison))
      said.add('the digest of what changed about its payees is not that of the changes');
    else for (const problem of await falseParts(db, batch, comparison)) said.add(problem);
    all.push(...said.list);
  }
  return all;
}

function readComparison(found: string): PayeeComparison | null {
  try {
    return comparisonShape.parse(JSON.parse(found));
  } catch {
    return null;
  }
}

/** True where the digest is that of the changes, as far as they tell: all must be kept, and no amount a hundred times larger. */
function isOwnDigest({ changes, digest, hundredfold, ...counts }: PayeeComparison): boolean {
  const covered = changes.filter(({ kind }) => kind !== 'amount_changed').toSorted((a, b) => a.row - b.row);
  const changed = counts.accountChanged + counts.nameChanged + counts.newPayees;
  if (hundredfold.count > 0 || covered.length < changed) return digest !== '';
  if (changed === 0) return digest === '' && covered.length === 0;
  const hash = createHash('sha256');
  for (const one of covered) hash.update(`${JSON.stringify(one)}\n`);
  return covered.length === changed && hash.digest('hex') === digest;
}

const columns = [
  'row_number',
  'reference',
  'account_number',
  'account_name',
  'currency',
  'amount',
  'approval_needed',
] as const;
type Row = Pick<Payout, (typeof columns)[number]>;

async function falseParts(db: Db, batch: string, found: PayeeComparison): Promise<string[]> {
  const wrong: string[] = [];
  const totals = await db.selectFrom('batch_totals').selectAll().where('batch_id', '=', batch).execute();
  const now = Object.fromEntries(
    totals.map(({ currency, amount }) => [currency, formatMinor(amount, currency)]),
  );
  for (const currency of new Set([...Object.keys(now), ...Object.keys(found.totalsNow)]))
    if (now[currency] !== found.totalsNow[currency])
      wrong.push(`its comparison has the total ${currency} ${found.totalsNow[currency] ?? 'none'}`);
  for (const some of inParts(found.changes, changesPerQuery)) {
    const rows = await rowsOf(db, batch, some);
    const isMarked = [...rows.values()].some((row) => row.approval_needed === 1n);
    for (const one of some) {
      const row = rows.get(one.reference);
      if (!row || Number(row.row_number) !== one.row)
        wrong.push(`its comparison names ${one.reference} in row ${one.row}, which is not there`);
      else if (!agrees(one, row))
        wrong.push(`its comparison says "${one.new}" of ${one.reference}, which the payout does not`);
      else if (isMarked && asksForApproval(one) && row.approval_needed === 0n)
        wrong.push(`${one.reference} changed, and needs no approval, although others of its batch do`);
    }
  }
  return wrong;
}

const asksForApproval = ({ kind }: PayeeChange): boolean =>
  kind === 'account_changed' || kind === 'new_payee';

async function rowsOf(db: Db, batch: string, changes: readonly PayeeChange[]): Promise<Map<string, Row>> {
  const rows = await db
    .selectFrom('payouts')
    .select(columns)
    .where('batch_id', '=', batch)
    .where('row_number', 'in', idList(changes.map(({ row }) => BigInt(row))))
    .execute();
  return new Map(rows.map((row) => [row.reference, row]));
}

/** True where the payout is as the change says that it is now. */
function agrees(change: PayeeChange, row: Row): boolean {
  switch (change.kind) {
    case 'account_changed':
    case 'new_payee':
      return change.new.split(' ')[0] === row.account_number;
    case 'name_changed':
      return change.new === row.account_name;
    case 'amount_changed':
      return change.new === `${row.currency} ${formatMinor(row.amount, row.currency)}`;
  }
}
