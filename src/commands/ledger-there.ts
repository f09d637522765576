import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { problemText } from '../reporting/advice-text.ts';
import type { Config } from '../settings/settings.ts';
import { nameOf } from '../storage/place.ts';
import { LedgerAbsent } from '../storage/schema-version.ts';
import { Stop } from './result.ts';

/**
 * A mistyped `ledger.url` must not begin an empty ledger beside batches that were taken in: it would know none of their
 * references (P22).
 */
export async function refuseStrayLedger(config: Config): Promise<void> {
  const archive = join(config.dataDir, 'archive');
  if (existsSync(config.ledgerFile) || !statSync(archive, { throwIfNoEntry: false })?.isDirectory()) return;
  if (!readdirSync(archive).some((name) => name.endsWith('.csv'))) return;
  if (await hasLedger(config)) return;
  throw new Stop(
    2,
    `${archive} holds batches that were taken in, but there is no ledger ${nameOf(config.ledgerPlace)}: check ledger.url and --data, or put a backup in its place with counterfoil restore. Nothing was done`,
  );
}

/**
 * A mistyped folder must not look like a ledger in which nothing happened. A data folder that `init` made is one in
 * which nothing was taken in yet.
 */
export async function refuseWithoutLedger(config: Config): Promise<void> {
  const { dataDir } = config;
  if (existsSync(join(dataDir, 'inbox')) || (await hasLedger(config))) return;
  throw new Stop(
    2,
    `no ledger in ${dataDir} (${nameOf(config.ledgerPlace)} is not there): check --data and ledger.url, or run counterfoil init and submit`,
  );
}

/** Stops with 2 when there is no ledger: for commands that read the ledger's contents. */
export async function demandLedger(config: Config): Promise<void> {
  await refuseWithoutLedger(config);
  await refuseStrayLedger(config);
  if (!(await hasLedger(config))) throw new Stop(2, noLedgerYet(config));
}

export function noLedgerYet({ ledgerPlace }: Config): string {
  return problemText(new LedgerAbsent(nameOf(ledgerPlace)));
}

export async function hasLedger({ ledgerFile, ledgerPlace }: Config): Promise<boolean> {
  if (existsSync(ledgerFile)) return true;
  const { isHalfSwapped } = await import('../custody/swap.ts');
  // An interrupted restore has a name of its own for the ledger; opening it says so.
  if (isHalfSwapped(ledgerFile)) return true;
  const { isLedgerThere } = await import('../storage/exists.ts');
  return isLedgerThere(ledgerPlace);
}
