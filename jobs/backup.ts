import type { App } from '../src/app/app.ts';
import type { Config } from '../src/core/settings/settings.ts';
import { makeDailyBackup } from '../src/custody/daily-backup.ts';

export const name = 'backup';

const expressions: Record<Config['ledger']['backupEvery'], string> = {
  '5m': '*/5 * * * *',
  '10m': '*/10 * * * *',
  '15m': '*/15 * * * *',
  '30m': '*/30 * * * *',
  '1h': '0 * * * *',
  '2h': '0 */2 * * *',
  '4h': '0 */4 * * *',
  '6h': '0 */6 * * *',
  '12h': '0 */12 * * *',
  // Before the nightly run.
  '1d': '20 1 * * *',
};

/** When `serve` makes a backup, in `schedules.timezone`. Empty: never. */
export function expressionOf({ ledger }: Pick<Config, 'ledger'>): string {
  return ledger.backupDir === '' ? '' : expressions[ledger.backupEvery];
}

/** Makes a backup and deletes expired ones. Throws when it cannot: the scheduler records why and tries again. */
export function run({ ledger, config, clock }: App<'local'>): ReturnType<typeof makeDailyBackup> {
  return makeDailyBackup(ledger, { folder: config.ledger.backupDir, at: clock.iso() });
}
