import type { App } from '../../../app/app.ts';
import { ledgerGrowth } from '../../../custody/growth.ts';
import { backupStanding } from '../../../findings/file-findings.ts';
import { lateBackup, newestText } from '../../../words/file-words.ts';
import { sizeText } from '../kit/size-text.ts';
import { type DoctorCheck, skipped, well, wrong } from './doctor-check.ts';

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

/** Says how old the newest scheduled backup is; a fault when one was missed. */
export function checkBackups(app: App<'local'>): DoctorCheck {
  if (app.ledger.place.kind === 'postgres') return skipped('backups', 'the database makes them');
  const standing = backupStanding(app);
  if (standing === null)
    return well('backups', 'ledger.backup_dir is not set: serve makes none, and others are not seen here');
  switch (standing.is) {
    case 'none':
      return well('backups', `none in ${standing.folder} yet: serve makes one every ${standing.every}`);
    case 'kept':
      return well('backups', newestText(standing));
    default: {
      const { problem, fix } = lateBackup(standing);
      return wrong('backups', problem, fix);
    }
  }
}
