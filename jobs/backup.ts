import type { App } from '../src/app/app.ts';
import { makeDailyBackup } from '../src/custody/daily-backup.ts';
import type { Config } from '../src/settings/settings.ts';

export const name = 'backup';

/** When `serve` makes the day's backup, in `schedules.timezone`: before the nightly run. Empty: never. */
export function expressionOf({ ledger }: Pick<Config, 'ledger'>): string {
  return ledger.backupDir === '' ? '' : '20 1 * * *';
}

/** Makes the day's backup and deletes expired ones. Throws when it cannot: the scheduler records why and tries again. */
export function run({ ledger, config, clock }: App<'local'>): ReturnType<typeof makeDailyBackup> {
  return makeDailyBackup(ledger, { folder: config.ledger.backupDir, at: clock.iso() });
}
