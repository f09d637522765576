import { DateTime } from 'luxon';
import { exponentOf, formatMinor } from '../domain/money.ts';
import { columnKey } from './csv-file.ts';

/** An instant of the ledger as ISO 8601 with the zone's offset; empty for null, unchanged when it is no instant. */
export function zoned(instant: string | null, zone: string): string {
  if (instant === null) return '';
  return DateTime.fromISO(instant, { zone: 'utc' }).setZone(zone).toISO() ?? instant;
}

/** Minor units with the currency's digits; for a currency unknown to ISO 4217 (only the service can show one) as they are. */
export function money(minor: bigint, currency: string): string {
  return exponentOf(currency) === undefined ? minor.toString() : formatMinor(minor, currency);
}

/** Hides all but the last four characters of an account number (`reports.mask_accounts`). Masking twice changes nothing. */
function maskAccount(account: string): string {
  return '*'.repeat(Math.max(0, account.length - 4)) + account.slice(-4);
}

/** Columns where a discrepancy of the beneficiary shows `bank/account`. */
const told = new Set(['expected', 'actual', 'evidence', 'what', 'why']);

function maskTold(cell: string): string {
  return cell.replaceAll(/(?<=\b[A-Za-z0-9]{3,11}\/)\d{5,20}\b/g, maskAccount);
}

/** Masks the account number of each row under the header, when asked to; else gives the rows as they are. */
export function accountMask(header: string[], masked: boolean): (cells: string[]) => string[] {
  if (!masked) return (cells) => cells;
  const masks = header.map((name) => {
    const key = columnKey(name);
    return key === 'account_number' ? maskAccount : told.has(key) ? maskTold : undefined;
  });
  return (cells) => cells.map((cell, index) => masks[index]?.(cell) ?? cell);
}
