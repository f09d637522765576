import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../../core/settings/settings.ts';
import { placeName } from '../../../core/storage/place.ts';
import { LedgerAbsent } from '../../../core/storage/schema-version.ts';
import { problemText } from '../../../words/advice-text.ts';
import { Stop } from './result.ts';

/**
 * Refuses a missing ledger beside batches that were taken in. A mistyped `ledger.url` would begin an empty one, which
 * knows none of their references (P22).
 */
export async function refuseStrayLedger(config: Config): Promise<void> {
  const archive = join(config.dataDir, 'archive');
  if (existsSync(config.ledgerFile) || !holdsTakenFiles(archive) || (await hasLedger(config))) return;
  throw new Stop(
    `${archive} holds batches that were taken in, but there is no ledger ${placeName(config.ledgerPlace)}: check ledger.url and --data, or put a backup in its place with counterfoil restore. Nothing was done`,
  );
}

/** Whether intake moved or copied a file here: a taken file's name begins with its batch, whatever it ends in. */
export function holdsTakenFiles(archive: string): boolean {
  if (!statSync(archive, { throwIfNoEntry: false })?.isDirectory()) return false;
  return readdirSync(archive).some((name) => name.includes('--'));
}

/**
 * Refuses a data folder that does not exist: a mistyped one must not look like an empty ledger. In a folder made by
 * `init`, nothing was taken in yet.
 */
export async function refuseWithoutLedger(config: Config): Promise<void> {
  const { dataDir } = config;
  if (existsSync(join(dataDir, 'inbox')) || (await hasLedger(config))) return;
  throw new Stop(
    `no ledger in ${dataDir} (${placeName(config.ledgerPlace)} is not there): check --data and ledger.url, or run counterfoil init and submit`,
  );
}

/** Stops with 2 when there is no ledger: for commands that read the ledger's contents. */
export async function demandLedger(config: Config): Promise<void> {
  await refuseWithoutLedger(config);
  await refuseStrayLedger(config);
  if (!(await hasLedger(config))) throw new Stop(noLedgerYet(config));
}

export function noLedgerYet({ ledgerPlace }: Config): string {
  return problemText(new LedgerAbsent(placeName(ledgerPlace)));
}

export async function hasLedger({ ledgerFile, ledgerPlace }: Config): Promise<boolean> {
  if (existsSync(ledgerFile)) return true;
  const { isHalfSwapped } = await import('../../../custody/swap.ts');
  // An interrupted restore gave the ledger another name; opening it reports that.
  if (isHalfSwapped(ledgerFile)) return true;
  const { isLedgerThere } = await import('../../../core/storage/exists.ts');
  return isLedgerThere(ledgerPlace);
}
