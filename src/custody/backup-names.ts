import { DateTime } from 'luxon';

/** So many of the newest stay, whatever their day: a copy made just after a mistake must not take the last good one. */
const newestKept = 4;
const daysKept = 7;
const weeksKept = 4;

/** A daily backup in its folder: its file name, and when it was made (ISO UTC). */
export type DailyBackup = { name: string; at: string };

/** The beginning of the names of a ledger's daily backups. Several ledgers may share a folder. */
export function backupPrefix(ledgerId: string): string {
  return `counterfoil-${ledgerId.slice(0, 8)}-`;
}

/** The file name of the backup made at `at` (ISO UTC). */
export function backupName(ledgerId: string, at: string): string {
  return `${backupPrefix(ledgerId)}${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z.db`;
}

/** The daily backups of a ledger among these file names, newest first. Other files are ignored. */
export function dailyBackups(ledgerId: string, names: readonly string[]): DailyBackup[] {
  const prefix = backupPrefix(ledgerId);
  return names
    .flatMap((name) => {
      const [, stamp] =
        /^(\d{8}T\d{6}Z)\.db$/.exec(name.startsWith(prefix) ? name.slice(prefix.length) : '') ?? [];
      const at = stamp === undefined ? null : DateTime.fromISO(stamp, { zone: 'utc' });
      return at?.isValid ? [{ name, at: at.toJSDate().toISOString() }] : [];
    })
    .toSorted((a, b) => (a.at < b.at ? 1 : -1));
}

/**
 * The backups to delete: all but the newest four, and the newest of each of the last seven days and four weeks that have
 * one. Those later than `now` (ISO UTC) stay and are not counted: a clock was ahead then, or is behind now, and the one of today must not
 * expire at once (P33).
 */
export function expiredBackups(all: readonly DailyBackup[], now: string): DailyBackup[] {
  const newestFirst = all.filter(({ at }) => at <= now);
  const newestOf = (period: (at: DateTime) => string, kept: number): DailyBackup[] =>
    [...Map.groupBy(newestFirst, ({ at }) => period(DateTime.fromISO(at, { zone: 'utc' }))).values()].flatMap(
      ([newest], index) => (newest && index < kept ? [newest] : []),
    );
  const kept = new Set([
    ...newestFirst.slice(0, newestKept),
    ...newestOf((at) => at.toISODate() ?? '', daysKept),
    ...newestOf((at) => `${at.weekYear}-${at.weekNumber}`, weeksKept),
  ]);
  return newestFirst.filter((one) => !kept.has(one));
}
