import { createHash } from 'node:crypto';
import { columnKey } from '../core/domain/batch-rules.ts';
import { exponentOf, formatMinor } from '../core/domain/money.ts';
import { payeeNameKey } from '../core/domain/payee-name.ts';
import type { PayeeChange, PayeeComparison } from '../core/ledger/payee-comparisons.ts';
import type { Db } from '../core/storage/ledger.ts';
import { firstSeen } from './first-seen.ts';
import { paidElsewhere } from './paid-elsewhere.sql.ts';
import { addSum, capped, formatTotals, type Sums } from './scan.ts';
import {
  batchesAlike,
  type EarlierBatch,
  knownAccounts,
  type PaidRow,
  paidBefore,
  paidIn,
  paidRows,
  sampleOf,
} from './series.sql.ts';

/** Whom a row is to pay, and how much. */
export type PayeeRow = {
  row: number;
  reference: string;
  accountNumber: string;
  accountName: string;
  bankCode: string;
  currency: string;
  amount: bigint;
  payeeId: string;
};

/** The rows that are compared. `each` reads them from the start, as often as it is called. */
export type ComparedRows = {
  columns: readonly string[];
  count: number;
  /** The batch that they are, if it is in the ledger. */
  batch: string | null;
  each(take: (rows: readonly PayeeRow[]) => Promise<void>): Promise<unknown>;
  /** The payouts that some rows pay again, by row (P20). */
  again: ReadonlyMap<number, bigint>;
};

/** A comparison, and the rows whose account changed, is new, or gets a hundred times the amount of before. */
export type ComparedPayees = { comparison: PayeeComparison; asking: number[] };

/** Changes of each kind that are kept; all are counted. */
const mostChanges = 1000;
const sampleSize = 64;

/**
 * Compares rows with the last batch of their series: the newest batch with the same columns that shares at least half of
 * their payees, else one with other columns (P37). A row that pays a payout again is compared with that one. A row whose
 * payee was paid before, but never on this account, is compared with the last payout of that payee. `newcomers`: also finds
 * accounts that were never paid. Memory stays flat: rows are looked up by hashes of 20 bytes.
 */
export async function comparePayees(
  db: Db,
  now: ComparedRows,
  { newcomers }: { newcomers: boolean },
): Promise<ComparedPayees | null> {
  const tried = await batchesAlike(db, { besides: now.batch, rows: now.count });
  const ours = columnSet(now.columns);
  const isSame = (one: EarlierBatch): boolean => columnSet(JSON.parse(one.columns)) === ours;
  const inOrder = [...tried.filter(isSame), ...tried.filter((one) => !isSame(one))];
  if (inOrder.length > 0) {
    const payees = firstSeen();
    await now.each(async (rows) => {
      for (const row of rows) for (const key of keysOf(row)) payees(key, row.row);
    });
    // The same people may be paid their expenses on other accounts: one that pays these accounts comes first.
    for (const keys of [(row: PayeeRow) => [accountOf(row)], keysOf])
      for (const one of inOrder) {
        const sample = await sampleOf(db, one.id, sampleSize);
        const shared = sample.filter((row) => keys(payeeOf(row)).some((key) => payees(key, 0) !== null));
        if (shared.length * 4 < sample.length) continue;
        const found = await compareWith(db, now, { before: await readBefore(db, one), newcomers });
        if (found.isSeries) return found;
      }
  }
  const found = await compareWith(db, now, { before: null, newcomers });
  return now.again.size > 0 || newcomers || found.comparison.digest !== '' ? found : null;
}

/** The columns that tell a series; ours that say nothing about it do not count. */
function columnSet(columns: readonly string[]): string {
  const keys = columns.map((name) => columnKey(name.trim()));
  return keys
    .filter((key) => !['', 'payon', 'payeeid', 'type'].includes(key))
    .toSorted()
    .join('\n');
}

const accountOf = (row: PayeeRow): string => `a${row.accountNumber}\n${row.bankCode}\n${row.currency}`;
const nameOf = (row: PayeeRow): string => `n${payeeNameKey(row.accountName)}`;
const idOf = (row: PayeeRow): string => `i${row.payeeId}`;

/** By which a payee is recognised. */
function keysOf(row: PayeeRow): string[] {
  return [accountOf(row), nameOf(row), ...(row.payeeId === '' ? [] : [idOf(row)])];
}

export function payeeOf(paid: PaidRow): PayeeRow {
  return {
    row: Number(paid.row_number),
    reference: paid.reference,
    accountNumber: paid.account_number,
    accountName: paid.account_name,
    bankCode: paid.bank_code,
    currency: paid.currency,
    amount: paid.amount,
    payeeId: paid.payee_id,
  };
}

type Before = {
  batch: EarlierBatch;
  /** The row in which a key was first seen. */
  find(key: string): number | null;
  payees: number;
  last: number;
  totals: Sums;
};

async function readBefore(db: Db, batch: EarlierBatch): Promise<Before> {
  const seen = firstSeen();
  const before = { payees: 0, last: 0, totals: { count: 0, totals: new Map<string, bigint>() } };
  for await (const page of paidIn(db, batch.id))
    for (const one of page.map(payeeOf)) {
      const account = accountOf(one);
      if (seen(account, one.row) === null) before.payees++;
      seen(nameOf(one), one.row);
      seen(account + nameOf(one), one.row);
      if (one.payeeId !== '') {
        seen(idOf(one), one.row);
        seen(account + idOf(one), one.row);
      }
      before.last = Math.max(before.last, one.row);
      addSum(before.totals, one.currency, one.amount);
    }
  return { batch, find: (key) => seen(key, 0), ...before };
}

/**
 * The row of before that paid the payee of this one; null where none did. The same key of the employer is the same
 * payee. Without one, the name with its account is; then the name alone, whose account then changed; then the account.
 */
function rowBefore(before: Before, row: PayeeRow): number | null {
  const { find } = before;
  const account = accountOf(row);
  const byKey = row.payeeId === '' ? null : (find(account + idOf(row)) ?? find(idOf(row)));
  return byKey ?? find(account + nameOf(row)) ?? find(nameOf(row)) ?? find(account);
}

async function compareWith(
  db: Db,
  now: ComparedRows,
  { before, newcomers }: { before: Before | null; newcomers: boolean },
): Promise<ComparedPayees & { isSeries: boolean }> {
  const met = new Uint8Array((before?.last ?? 0) + 1);
  const kept = { account_changed: list(), name_changed: list(), amount_changed: list(), new_payee: list() };
  const digest = createHash('sha256');
  const totals: Sums = { count: 0, totals: new Map() };
  const originals: Sums = { count: 0, totals: new Map() };
  const counts = { joined: 0, matched: 0 };
  const hundredfold = capped<number>(5);
  const asking: number[] = [];
  const uneven = new Set<string>();
  let first: PaidRow | undefined;
  let changed = 0;
  const note = (change: PayeeChange): void => {
    kept[change.kind].add(change);
    digest.update(`${JSON.stringify(change)}\n`);
    changed++;
    if (change.kind !== 'name_changed') asking.push(change.row);
  };
  await now.each(async (rows) => {
    const at = new Map(rows.map((row) => [row.row, before && rowBefore(before, row)]));
    const wanted = [...at.values()].filter((row) => row !== null);
    const earlier = before ? await paidRows(db, before.batch.id, wanted) : [];
    const byRow = new Map(earlier.map((paid) => [Number(paid.row_number), paid]));
    const again = await paidBefore(
      db,
      rows.flatMap(({ row }) => now.again.get(row) ?? []),
    );
    const byId = new Map(again.map((paid) => [paid.id, paid]));
    const moved = await paidElsewhere(db, rows);
    const known = newcomers ? await knownAccounts(db, rows) : new Set();
    for (const row of rows) {
      addSum(totals, row.currency, row.amount);
      if (row.amount % (100n * 10n ** BigInt(exponentOf(row.currency) ?? 2)) !== 0n) uneven.add(row.currency);
      const original = byId.get(now.again.get(row.row) ?? -1n);
      const lastTime = byRow.get(at.get(row.row) ?? -1);
      const was = original ?? moved.get(row.row) ?? lastTime;
      first ??= was;
      if (original) addSum(originals, original.currency, original.amount);
      if (was) {
        counts.matched++;
        const old = payeeOf(was);
        if (before && !original && lastTime) met[before.find(accountOf(payeeOf(lastTime))) ?? 0] = 1;
        const isUnproven = was === lastTime && isUnsent(was);
        const change = isUnproven && was.state !== 'ready' ? null : payeeChange(old, row);
        if (change) note(change);
        else if (isUnproven && newcomers && !known.has(row.row)) note(newPayee(row));
        if (old.currency !== row.currency) continue;
        const far = row.amount > old.amount ? row.amount - old.amount : old.amount - row.amount;
        const amounts = [old, row].map(
          ({ amount, currency }) => `${currency} ${formatMinor(amount, currency)}`,
        );
        const amount = { kind: 'amount_changed', old: amounts[0] ?? '', new: amounts[1] ?? '' } as const;
        if (far * 2n > old.amount)
          kept.amount_changed.add({ row: row.row, reference: row.reference, ...amount });
        // A hundred times, or a little less: units mixed up in a month with a small deduction.
        if (row.amount < old.amount * 99n) continue;
        hundredfold.add(row.row);
        if (asking.at(-1) !== row.row) asking.push(row.row);
        digest.update(`${row.row} ${row.reference} ${row.amount}\n`);
        changed++;
      } else {
        counts.joined++;
        if (newcomers && !known.has(row.row)) note(newPayee(row));
      }
    }
  });
  const stayed = met.subarray(1).reduce((sum, one) => sum + one, 0);
  const sumsBefore = before ? before.totals : originals;
  const comparison: PayeeComparison = {
    with: before?.batch.id ?? first?.batch_id ?? null,
    day: before?.batch.created_at.slice(0, 10) ?? '',
    joined: counts.joined,
    left: before ? before.payees - stayed : 0,
    accountChanged: kept.account_changed.count,
    nameChanged: kept.name_changed.count,
    amountChanged: kept.amount_changed.count,
    newPayees: kept.new_payee.count,
    ...(newcomers && { countsNew: true as const }),
    hundredfold: { count: hundredfold.count, rows: hundredfold.list },
    inflated: [...totals.totals.keys()].filter((currency) => {
      const was = before?.totals.totals.get(currency) ?? 0n;
      return was > 0n && (totals.totals.get(currency) ?? 0n) >= was * 50n && !uneven.has(currency);
    }),
    totalsBefore: formatTotals(sumsBefore.totals),
    totalsNow: formatTotals(totals.totals),
    changes: Object.values(kept).flatMap((kind) => kind.list),
    digest: changed > 0 ? digest.digest('hex') : '',
  };
  const isHalf = counts.matched * 2 >= now.count && stayed * 2 >= (before?.payees ?? 0);
  return { comparison, asking, isSeries: isHalf };
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
  if (accountOf(old) !== accountOf(now)) {
    const where = old.bankCode !== now.bankCode || old.currency !== now.currency;
    const text = (one: PayeeRow): string => (where ? accountText(one) : one.accountNumber);
    return { row, reference, kind: 'account_changed', old: text(old), new: text(now) };
  }
  if (nameOf(old) === nameOf(now)) return null;
  return { row, reference, kind: 'name_changed', old: old.accountName, new: now.accountName };
}

function accountText({ accountNumber, bankCode, currency }: PayeeRow): string {
  return `${accountNumber} (bank ${bankCode}, ${currency})`;
}
