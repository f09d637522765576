import { createHash } from 'node:crypto';
import { formatMinor } from '../core/domain/money.ts';
import { comparisonShape, type PayeeChange, type PayeeComparison } from '../core/ledger/payee-comparisons.ts';
import { idList } from '../core/storage/bulk.ts';
import { inParts } from '../core/storage/keyset.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import { type LedgerProblem, type ProblemFact, problemsOf } from './ledger-problem.ts';

/** So many changes are looked up in one query. */
const changesPerQuery = 1000;

/**
 * Finds comparisons of payees that do not agree with the rows from which they were made (P37): an approval covers them. What
 * was known of other payments at that time cannot be told again, so that only what the rows say is checked.
 */
export async function checkComparisons(db: Db): Promise<LedgerProblem[]> {
  const all: LedgerProblem[] = [];
  const stored = await db.selectFrom('payee_comparisons').selectAll().orderBy('batch_id').execute();
  for (const { batch_id: batch, digest, found } of stored) {
    all.push(...problemsOf('payees', batch, await falseParts(db, batch, { digest, found })));
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

type Stored = { digest: string; found: string };

async function falseParts(db: Db, batch: string, stored: Stored): Promise<ProblemFact[]> {
  const found = readComparison(stored.found);
  if (!found) return [{ kind: 'comparison_unreadable' }];
  if (found.digest !== stored.digest || !isOwnDigest(found)) return [{ kind: 'comparison_digest' }];
  const wrong: ProblemFact[] = [];
  const totals = await db.selectFrom('batch_totals').selectAll().where('batch_id', '=', batch).execute();
  const now = Object.fromEntries(
    totals.map(({ currency, amount }) => [currency, formatMinor(amount, currency)]),
  );
  for (const currency of new Set([...Object.keys(now), ...Object.keys(found.totalsNow)]))
    if (now[currency] !== found.totalsNow[currency])
      wrong.push({ kind: 'comparison_total', currency, total: found.totalsNow[currency] });
  for (const some of inParts(found.changes, changesPerQuery)) {
    const rows = await rowsOf(db, batch, some);
    const isMarked = [...rows.values()].some((row) => row.approval_needed === 1n);
    for (const one of some) {
      const { reference } = one;
      const row = rows.get(reference);
      if (!row || Number(row.row_number) !== one.row)
        wrong.push({ kind: 'comparison_row', reference, row: one.row });
      else if (!agrees(one, row)) wrong.push({ kind: 'comparison_value', reference, value: one.new });
      else if (isMarked && asksForApproval(one) && row.approval_needed === 0n)
        wrong.push({ kind: 'approval_missed', reference });
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
