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

/** Masks the account number of each row under the header, when asked to; else gives the rows as they are. */
export function accountMask(header: string[], masked: boolean): (cells: string[]) => string[] {
  const hidden = new Set(
    header.flatMap((name, index) => (columnKey(name) === 'account_number' ? [index] : [])),
  );
  if (!masked || hidden.size === 0) return (cells) => cells;
  return (cells) => cells.map((cell, index) => (hidden.has(index) ? maskAccount(cell) : cell));
}
