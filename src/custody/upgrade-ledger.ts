import { rmSync } from 'node:fs';
import type { Mode } from '../core/domain/payout.ts';
import { isLedgerFile, type Place } from '../core/storage/place.ts';
import { LedgerOlder } from '../core/storage/schema-version.ts';
import { shutGate } from './custody-gate.ts';
import { copyOlder } from './make-backup.ts';
import { openLedger } from './open-ledger.ts';
import { assertNotHalfSwapped } from './swap.ts';

/** `backup` is the copy from before the upgrade; null on PostgreSQL, where the database makes the backups. */
export type Upgraded = { kind: 'upgraded'; backup: string | null } | { kind: 'current' } | { kind: 'locked' };

type Options = { mode: Mode; now: () => string };

/** Whether the ledger's tables are of an earlier version. Changes nothing; throws as `openLedger` does. */
export async function isUpgradeDue(place: Place, { mode, now }: Options): Promise<boolean> {
  try {
    await (await openLedger(place, { mode, now, reads: true })).close();
    return false;
  } catch (error) {
    if (error instanceof LedgerOlder) return true;
    throw error;
  }
}

/** Brings a ledger to this version's tables, alone on it: an older process must not continue with the new tables. */
export async function upgradeLedger(place: Place, options: Options): Promise<Upgraded> {
  const gate = await shutGate(place);
  if (!gate) return { kind: 'locked' };
  try {
    if (isLedgerFile(place)) assertNotHalfSwapped(place.path);
    return await upgradeAlone(place, options);
  } finally {
    await gate.release();
  }
}

/** As {@link upgradeLedger}, for a caller that has shut the gate. The backup is complete before anything changes. */
export async function upgradeAlone(place: Place, { mode, now }: Options): Promise<Upgraded> {
  const open = (alone: 'owner' | 'upgrade') => openLedger(place, { mode, now, alone });
  try {
    await (await open('owner')).close();
    return { kind: 'current' };
  } catch (error) {
    if (!(error instanceof LedgerOlder)) throw error;
  }
  const at = now();
  const backup = isLedgerFile(place) ? await copyOlder(place.path, at) : null;
  try {
    await (await open('upgrade')).close();
  } catch (error) {
    // The upgrade is one transaction: nothing of it stayed, and the ledger is its own backup.
    if (backup !== null) rmSync(backup, { force: true });
    throw error;
  }
  return { kind: 'upgraded', backup };
}
