import { createHash } from 'node:crypto';
import { columnKey } from '../core/domain/batch-rules.ts';
import { exponentOf, formatMinor } from '../core/domain/money.ts';
import { dayOf } from '../core/domain/pay-day.ts';
import type { ComparedPerson, PayeeChange, PayeeComparison } from '../core/ledger/payee-comparisons.ts';
import type { Db } from '../core/storage/ledger.ts';
import { firstSeen } from './first-seen.ts';
import { anySent, paidElsewhere } from './paid-elsewhere.sql.ts';
import {
  accountKey,
  type Before,
  keysOf,
  nameOf,
  type PayeeRow,
  payeeOf,
  readBefore,
} from './payees-before.ts';
import { addSum, capped, formatTotals, type Sums } from './scan.ts';
import {
  batchesAlike,
  type EarlierBatch,
  knownAccounts,
  type PaidRow,
  paidBefore,
  paidRows,
  paidTo,
  sampleOf,
} from './series.sql.ts';

/** The rows that are compared. `each` reads them from the start, as often as it is called. */
export type ComparedRows = {
  columns: readonly string[];
  count: number;
  /** Their sums by currency. */
  totals: ReadonlyMap<string, bigint>;
  /** The batch that they are, if it is in the ledger. */
  batch: string | null;
  each(take: (rows: readonly PayeeRow[]) => Promise<void>): Promise<unknown>;
  /** About so many of them. */
  some(size: number): Promise<readonly PayeeRow[]>;
  /** The payouts that some rows pay again, by row (P20). */
  again: ReadonlyMap<number, bigint>;
};

/** A comparison, and the rows whose account changed, is new, or gets a hundred times the amount of before. */
export type ComparedPayees = { comparison: PayeeComparison; asking: number[] };

/** Changes of each kind, and people who joined or left, that are kept; all are counted. */
const mostChanges = 1000;
const sampleSize = 64;

/**
 * Compares rows with the last batch of their series (P37). A row that pays a payout again is compared with that one. A row
 * whose payee was paid before, but never on this account, is compared with the last payout of that payee. `newcomers`: also
 * finds accounts that were never paid. `zone`: whose days people read.
 */
export async function comparePayees(
  db: Db,
  now: ComparedRows,
  { newcomers, zone }: { newcomers: boolean; zone: string },
): Promise<ComparedPayees | null> {
  const tried = await batchesAlike(db, { besides: now.batch, rows: now.count });
  const isOpen = newcomers || now.again.size > 0;
  const isPaid = await anySent(db);
  if (tried.length === 0 && !isOpen && !isPaid) return null;
  const against = (before: Before | null) => compareWith(db, now, { before, newcomers, isPaid, zone });
  for (const find of [ofTheseAccounts, ofThesePayees])
    for (const one of await find(db, now, tried)) {
      const found = await against(await readBefore(db, one));
      if (found.isSeries) return found;
    }
  const found = await against(null);
  return isOpen || found.comparison.digest !== '' ? found : null;
}

/**
 * The batches that paid at least half of these accounts, whatever their columns: the same people may be paid their expenses
 * on other accounts. One that paid about as much comes first: petty expenses on the same accounts are no series with
 * salaries. Then the newest.
 */
async function ofTheseAccounts(
  db: Db,
  now: ComparedRows,
  tried: readonly EarlierBatch[],
): Promise<EarlierBatch[]> {
  if (tried.length === 0) return [];
  const sample = [...new Map((await now.some(sampleSize)).map((row) => [accountKey(row), row])).values()];
  const paid = await paidTo(db, sample, tried);
  const distance = ({ id }: EarlierBatch): number => paid.get(id)?.distance ?? 0;
  return tried
    .filter(({ id }) => (paid.get(id)?.accounts ?? 0) * 2 >= sample.length)
    .toSorted((a, b) => distance(a) - distance(b));
}

/** The batches of which some rows pay these accounts, names or keys: first those with the same columns. */
async function ofThesePayees(
  db: Db,
  now: ComparedRows,
  tried: readonly EarlierBatch[],
): Promise<EarlierBatch[]> {
  if (tried.length === 0) return [];
  const payees = firstSeen();
  await now.each(async (rows) => {
    for (const row of rows) for (const key of keysOf(row)) payees(key, row.row);
  });
  const ours = columnSet(now.columns);
  const isSame = (one: EarlierBatch): boolean => columnSet(JSON.parse(one.columns)) === ours;
  const found: EarlierBatch[] = [];
  for (const one of [...tried.filter(isSame), ...tried.filter((other) => !isSame(other))]) {
    const sample = await sampleOf(db, one.id, sampleSize);
    const shared = sample.filter((row) => keysOf(payeeOf(row)).some((key) => payees(key, 0) !== null));
    if (shared.length * 4 >= sample.length) found.push(one);
  }
  return found;
}

/** The columns that tell a series; ours that say nothing about it do not count. */
function columnSet(columns: readonly string[]): string {
  const keys = columns.map((name) => columnKey(name.trim()));
  return keys
    .filter((key) => !['', 'payon', 'payeeid', 'type'].includes(key))
    .toSorted()
    .join('\n');
}

async function compareWith(
  db: Db,
  now: ComparedRows,
  {
    before,
    newcomers,
    isPaid,
    zone,
  }: { before: Before | null; newcomers: boolean; isPaid: boolean; zone: string },
): Promise<ComparedPayees & { isSeries: boolean }> {
  const kept = { account_changed: list(), name_changed: list(), amount_changed: list(), new_payee: list() };
  const digest = createHash('sha256');
  const originals: Sums = { count: 0, totals: new Map() };
  const joined = capped<ComparedPerson>(mostChanges);
  const hundredfold = capped<number>(5);
  const asking: number[] = [];
  const uneven = new Set<string>();
  let first: PaidRow | undefined;
  let changed = 0;
  let matched = 0;
  const note = (change: PayeeChange): void => {
    kept[change.kind].add(change);
    digest.update(`${JSON.stringify(change)}\n`);
    changed++;
    if (change.kind !== 'name_changed') asking.push(change.row);
  };
  const different: Sums = { count: 0, totals: new Map() };
  const noteDifference = (row: PayeeRow, was: bigint): void => {
    if (row.amount !== was) addSum(different, row.currency, row.amount - was);
  };
  /** Notes an amount that is far from the one that the same kind of batch paid. */
  const compareAmount = (row: PayeeRow, was: bigint): void => {
    const far = row.amount > was ? row.amount - was : was - row.amount;
    if (far * 2n > was) {
      const [old, now] = [was, row.amount].map((one) => `${row.currency} ${formatMinor(one, row.currency)}`);
      const texts = { old: old ?? '', new: now ?? '' };
      kept.amount_changed.add({ row: row.row, reference: row.reference, kind: 'amount_changed', ...texts });
    }
  };
  const noteHundredfold = (row: PayeeRow, was: bigint): void => {
    // A hundred times, or a little less: units mixed up in a month with a small deduction.
    if (row.amount < was * 99n) return;
    hundredfold.add(row.row);
    if (asking.at(-1) !== row.row) asking.push(row.row);
    digest.update(`${row.row} ${row.reference} ${row.amount}\n`);
    changed++;
  };
  await now.each(async (rows) => {
    const same = rows.map((row) => (before && !now.again.has(row.row) ? before.same(row) : null));
    const others = rows.filter((_, i) => same[i] === null);
    const at = new Map(others.map((row) => [row.row, before?.find(row) ?? null]));
    const wanted = [...at.values()].filter((row) => row !== null);
    const earlier = before ? await paidRows(db, before.batch.id, wanted) : [];
    const byRow = new Map(earlier.map((paid) => [Number(paid.row_number), paid]));
    const again = await paidBefore(
      db,
      others.flatMap(({ row }) => now.again.get(row) ?? []),
    );
    const byId = new Map(again.map((paid) => [paid.id, paid]));
    const moved = isPaid ? await paidElsewhere(db, others) : new Map<number, PaidRow>();
    const known = newcomers ? await knownAccounts(db, others) : new Set();
    for (const [i, row] of rows.entries()) {
      const { currency, amount } = row;
      if (!uneven.has(currency) && amount % (100n * 10n ** BigInt(exponentOf(currency) ?? 2)) !== 0n)
        uneven.add(currency);
      const unchanged = same[i] ?? null;
      if (before && unchanged !== null) {
        matched++;
        before.meet(unchanged);
        const amountBefore = before.nextAmount(unchanged);
        if (row.amount === amountBefore) continue;
        noteDifference(row, amountBefore);
        compareAmount(row, amountBefore);
        noteHundredfold(row, amountBefore);
        continue;
      }
      const original = byId.get(now.again.get(row.row) ?? -1n);
      const place = at.get(row.row) ?? null;
      const lastTime = byRow.get(place ?? -1);
      const was = original ?? moved.get(row.row) ?? lastTime;
      first ??= was;
      if (original) addSum(originals, original.currency, original.amount);
      if (was) {
        matched++;
        if (before && !original && lastTime && place !== null) before.meet(place);
        const isUnproven = was === lastTime && isUnsent(was);
        const change = isUnproven && was.state !== 'ready' ? null : payeeChange(payeeOf(was), row);
        if (change) note(change);
        else if (isUnproven && newcomers && !known.has(row.row)) note(newPayee(row));
        const lastAmount = before && lastTime && place !== null ? before.nextAmount(place) : undefined;
        if (lastTime?.currency === currency && lastAmount !== undefined) noteDifference(row, lastAmount);
        // What another kind of batch paid the same payee is no amount of before.
        const alike = original?.amount ?? lastAmount;
        if ((original ?? lastTime)?.currency === currency && alike !== undefined) compareAmount(row, alike);
        if (was.currency === currency) noteHundredfold(row, was.amount);
      } else {
        joined.add(personOf(row));
        if (newcomers && !known.has(row.row)) note(newPayee(row));
      }
    }
  });
  const left = before?.left() ?? [];
  const comparison: PayeeComparison = {
    with: before?.batch.id ?? first?.batch_id ?? null,
    day: before ? dayOf(before.batch.created_at, zone) : '',
    joined: joined.count,
    left: left.length,
    ...(before && {
      people: { joined: joined.list, left: await peopleIn(db, before.batch.id, left.slice(0, mostChanges)) },
    }),
    accountChanged: kept.account_changed.count,
    nameChanged: kept.name_changed.count,
    amountChanged: kept.amount_changed.count,
    ...(before && { amounts: { count: different.count, sums: formatTotals(different.totals) } }),
    newPayees: kept.new_payee.count,
    ...(newcomers && { countsNew: true as const }),
    hundredfold: { count: hundredfold.count, rows: hundredfold.list },
    inflated: [...now.totals].flatMap(([currency, total]) => {
      const was = before?.totals.totals.get(currency) ?? 0n;
      return was > 0n && total >= was * 50n && !uneven.has(currency) ? [currency] : [];
    }),
    totalsBefore: formatTotals((before?.totals ?? originals).totals),
    totalsNow: formatTotals(now.totals),
    changes: Object.values(kept).flatMap((kind) => kind.list),
    digest: changed > 0 ? digest.digest('hex') : '',
  };
  const isHalf = matched * 2 >= now.count && left.length * 2 <= (before?.payees ?? 0);
  return { comparison, asking, isSeries: isHalf };
}

/** Whom these rows of a batch were to pay, in their order. */
async function peopleIn(db: Db, batch: string, rows: readonly number[]): Promise<ComparedPerson[]> {
  const byRow = new Map((await paidRows(db, batch, rows)).map((paid) => [paid.row_number, payeeOf(paid)]));
  return [...byRow.values()].toSorted((a, b) => a.row - b.row).map(personOf);
}

function personOf({
  row,
  reference,
  accountName,
  accountNumber,
  currency,
  amount,
}: PayeeRow): ComparedPerson {
  const text = `${currency} ${formatMinor(amount, currency)}`;
  return { row, reference, name: accountName, account: accountNumber, amount: text };
}

const list = () => capped<PayeeChange>(mostChanges);

/** True for a payout of last time that nobody sent: it was cancelled, or it still waits. */
function isUnsent({ state }: PaidRow): boolean {
  return state === 'cancelled' || state === 'held' || state === 'ready';
}

function newPayee(row: PayeeRow): PayeeChange {
  return { row: row.row, reference: row.reference, kind: 'new_payee', old: '', new: accountText(row) };
}

/** What changed about a payee: the account or its bank, else the name. */
function payeeChange(old: PayeeRow, now: PayeeRow): PayeeChange | null {
  const { row, reference } = now;
  if (accountKey(old) !== accountKey(now)) {
    const where = old.bankCode !== now.bankCode || old.currency !== now.currency;
    const text = (one: PayeeRow): string => (where ? accountText(one) : one.accountNumber);
    return { row, reference, kind: 'account_changed', old: text(old), new: text(now), was: old.reference };
  }
  if (nameOf(old) === nameOf(now)) return null;
  const names = { old: old.accountName, new: now.accountName };
  return { row, reference, kind: 'name_changed', ...names, was: old.reference };
}

function accountText({ accountNumber, bankCode, currency }: PayeeRow): string {
  return `${accountNumber} (bank ${bankCode}, ${currency})`;
}
