import type { App } from '../../../app/app.ts';
import { newestBackup } from '../../../custody/daily-backup.ts';
import { ledgerGrowth } from '../../../custody/growth.ts';
import { sizeText } from '../kit/size-text.ts';
import { type DoctorCheck, skipped, well, wrong } from './doctor-check.ts';

const hourMs = 60 * 60_000;
/** A backup that is older than its pace and so many hours was missed: some copies take long. */
const graceHours = 12;

/** Says how large the ledger is, and how fast it grew over the last weeks. */
export async function checkGrowth({ ledger, clock }: App<'local'>): Promise<DoctorCheck> {
  const { bytes, perDay, days } = await ledgerGrowth(ledger.db, clock.now());
  const size = `the ledger takes ${sizeText(bytes)}`;
  if (perDay === null)
    return well('growth', `${size}; how fast it grows is known a day after the first reconciliation`);
  const year = bytes + perDay * 365;
  return well(
    'growth',
    `${size} and grew by ${sizeText(perDay)} a day over the last ${Math.round(days)} days; at this rate it takes ${sizeText(year)} in a year`,
  );
}

/** `15m`, `1h` or `1d` in hours. */
function hoursOf(pace: App['config']['ledger']['backupEvery']): number {
  const many = Number.parseInt(pace, 10);
  if (pace.endsWith('m')) return many / 60;
  return pace.endsWith('h') ? many : many * 24;
}

/** Says how old the newest scheduled backup is; a fault when one was missed. */
export function checkBackups({ ledger, config, clock }: App<'local'>): DoctorCheck {
  const { backupDir, backupEvery } = config.ledger;
  const paceHours = hoursOf(backupEvery);
  const lateHours = paceHours + Math.min(graceHours, paceHours);
  if (ledger.place.kind === 'postgres') return skipped('backups', 'the database makes them');
  if (backupDir === '')
    return well('backups', 'ledger.backup_dir is not set: serve makes none, and others are not seen here');
  const newest = newestBackup(ledger, backupDir);
  const bornMs = clock.now() - Date.parse(ledger.birth);
  if (!newest && bornMs <= lateHours * hourMs)
    return well('backups', `none in ${backupDir} yet: serve makes one every ${backupEvery}`);
  const fix = `see the job backup in counterfoil status; counterfoil serve makes one every ${backupEvery}, counterfoil backup FILE at once`;
  if (!newest) return wrong('backups', `none of this ledger in ${backupDir}`, fix);
  const hours = (clock.now() - Date.parse(newest.at)) / hourMs;
  if (hours < -1)
    return wrong(
      'backups',
      `the time of ${newest.name} in ${backupDir} is still to come: this machine's clock is wrong, or was then`,
      'set the clock; where it is right now, move that file elsewhere, so that the age of the others shows',
    );
  const age =
    hours < 2
      ? `${Math.round(hours * 60)} minutes`
      : hours < 48
        ? `${Math.round(hours)} hours`
        : `${Math.round(hours / 24)} days`;
  const detail = `the newest is ${age} old: ${newest.name} in ${backupDir}`;
  return hours > lateHours ? wrong('backups', detail, fix) : well('backups', detail);
}
