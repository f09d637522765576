import { DateTime } from 'luxon';
import { exponentOf, formatMinor } from '../core/domain/money.ts';
import { reportColumnKey } from './column-kinds.ts';

/** As the ledger stores an instant, since zones have offsets of whole minutes. */
const stored = /^(?:19[89]|20)\d{2}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const minutesKept = 2000;

/** Formats instants in one time zone. It caches recent minutes, since most instants share theirs. */
function createClockFace(zone: string): (instant: string) => string {
  const minutes = new Map<string, { upToMinute: string; offset: string }>();
  const whole = (instant: string): string =>
    DateTime.fromISO(instant, { zone: 'utc' }).setZone(zone).toISO() ?? instant;
  return (instant) => {
    if (!stored.test(instant)) return whole(instant);
    const minute = instant.slice(0, 16);
    let known = minutes.get(minute);
    if (!known) {
      const shown = whole(instant);
      known = { upToMinute: shown.slice(0, 16), offset: shown.slice(23) };
      if (minutes.size >= minutesKept) minutes.clear();
      minutes.set(minute, known);
    }
    return known.upToMinute + instant.slice(16, 23) + known.offset;
  };
}

const clockFaces = new Map<string, (instant: string) => string>();

/** An instant of the ledger as ISO 8601 with the zone's offset; empty for null, unchanged when it is no instant. */
export function zoned(instant: string | null, zone: string): string {
  if (instant === null) return '';
  const face = clockFaces.get(zone) ?? createClockFace(zone);
  clockFaces.set(zone, face);
  return face(instant);
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

/** A text with all but the last four characters of each `bank/account` in it hidden. */
export function maskTold(cell: string): string {
  return cell.replaceAll(/(?<=\b[A-Za-z0-9]{3,11}\/)\d{5,20}\b/g, maskAccount);
}

/** Masks the account number of each row under the header, when asked to; else gives the rows as they are. */
export function accountMask(header: string[], masked: boolean): (cells: string[]) => string[] {
  if (!masked) return (cells) => cells;
  const masks = header.map((name) => {
    const key = reportColumnKey(name);
    return key === 'account_number' ? maskAccount : told.has(key) ? maskTold : undefined;
  });
  return (cells) => cells.map((cell, index) => masks[index]?.(cell) ?? cell);
}

/** An instant as people read it in the zone of the reports: `22 Nov 2026, 16:00`. Unchanged when it is no instant. */
export function readableTime(instant: string, zone: string, seconds = false): string {
  const time = DateTime.fromISO(instant, { zone });
  return time.isValid
    ? time.setLocale('en-GB').toFormat(seconds ? 'd LLL yyyy, HH:mm:ss' : 'd LLL yyyy, HH:mm')
    : instant;
}

/** `2026-10` as `October 2026`. */
export function readableMonth(month: string): string {
  const time = DateTime.fromISO(`${month}-01`, { zone: 'utc' });
  return time.isValid ? time.setLocale('en-GB').toFormat('LLLL yyyy') : month;
}
