import { payeeNameKey } from '../core/domain/payee-name.ts';
import type { Db } from '../core/storage/ledger.ts';
import { firstSeen } from './first-seen.ts';
import { addSum, type Sums } from './scan.ts';
import { type EarlierBatch, lastRow, type PaidPayee, paidIn } from './series.sql.ts';

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

export const accountKey = (row: PayeeRow): string =>
  `a${row.accountNumber}\n${row.bankCode}\n${row.currency}`;
export const nameOf = (row: PayeeRow): string => `n${payeeNameKey(row.accountName)}`;
const idOf = (row: PayeeRow): string => `i${row.payeeId}`;

/** By which a payee is recognised. */
export function keysOf(row: PayeeRow): string[] {
  return [accountKey(row), nameOf(row), ...(row.payeeId === '' ? [] : [idOf(row)])];
}

export function payeeOf(paid: PaidPayee): PayeeRow {
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

/** An earlier batch, with which rows are compared one by one. */
export type Before = {
  batch: EarlierBatch;
  totals: Sums;
  /** How many accounts it pays. */
  payees: number;
  /** The row that paid the same account under the same name and key, if it was sent: then nothing about it changed. */
  same(row: PayeeRow): number | null;
  /** The row that paid the payee of this one; null where none did. */
  find(row: PayeeRow): number | null;
  /** The amount of the account of a row. A payee's second row gets the amount of the second row of before, and so on. */
  nextAmount(row: number): bigint;
  /** Notes that the account of a row of before is met again. */
  meet(row: number): void;
  /** The first row of each account that was not met, in their order. */
  left(): number[];
};

/** Reads an earlier batch. Memory stays flat: rows are looked up by hashes of 20 bytes. */
export async function readBefore(db: Db, batch: EarlierBatch): Promise<Before> {
  const last = await lastRow(db, batch.id);
  const seen = firstSeen(last * 4);
  // By row: its amount, and the first rows of its account and its name.
  const amounts = new BigInt64Array(last + 1);
  const accounts = new Uint32Array(last + 1);
  const names = new Uint32Array(last + 1);
  const met = new Uint8Array(last + 1);
  // By row: the next row of its account. By first row of an account: the last row read, then the row that is met next.
  const following = new Uint32Array(last + 1);
  const newest = new Uint32Array(last + 1);
  const upNext = new Uint32Array(last + 1);
  const totals: Sums = { count: 0, totals: new Map() };
  let payees = 0;
  for await (const page of paidIn(db, batch.id))
    for (const paid of page) {
      const one = payeeOf(paid);
      const [account, name, id] = [accountKey(one), nameOf(one), idOf(one)];
      const first = seen(account, one.row);
      if (first === null) payees++;
      amounts[one.row] = one.amount;
      accounts[one.row] = first ?? one.row;
      if (first !== null) following[newest[first] || first] = one.row;
      newest[first ?? one.row] = one.row;
      addSum(totals, one.currency, one.amount);
      if (Number(paid.was_sent) === 1) seen(sameOf(account, one), one.row);
      const isElsewhere = (row: number | null): row is number =>
        row !== null && accounts[row] !== accounts[one.row];
      const named = seen(name, one.row);
      names[one.row] = named ?? one.row;
      if (isElsewhere(named)) seen(account + name, one.row);
      const keyed = one.payeeId === '' ? null : seen(id, one.row);
      if (!isElsewhere(keyed)) continue;
      seen(account + id, one.row);
      if (names[keyed] !== names[one.row]) seen(sharedOf(id), one.row);
    }
  const find = (account: string, key: string): number | null => seen(account + key, 0) ?? seen(key, 0);
  return {
    batch,
    totals,
    payees,
    same: (row) => seen(sameOf(accountKey(row), row), 0),
    // The same key of the employer is the same payee. Without one, the name with its account is; then the name alone,
    // whose account then changed; then the account.
    find(row) {
      const account = accountKey(row);
      const isKey = row.payeeId !== '' && seen(sharedOf(idOf(row)), 0) === null;
      return (isKey ? find(account, idOf(row)) : null) ?? find(account, nameOf(row)) ?? seen(account, 0);
    },
    nextAmount(row) {
      const first = accounts[row] ?? 0;
      const now = upNext[first] || first;
      upNext[first] = following[now] || now;
      return amounts[now] ?? 0n;
    },
    meet(row) {
      met[accounts[row] ?? 0] = 1;
    },
    left() {
      const rows: number[] = [];
      for (let row = 1; row <= last; row++) if (accounts[row] === row && met[row] === 0) rows.push(row);
      return rows;
    },
  };
}

const sameOf = (account: string, { accountName, payeeId }: PayeeRow): string =>
  `s${account}\n${accountName}\n${payeeId}`;
/** Of a key that different people have, such as `N/A`: it is none. */
const sharedOf = (id: string): string => `shared ${id}`;
